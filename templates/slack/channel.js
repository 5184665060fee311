// Shows new messages without a reload. Without this script the page is the same, only older.
const messages = document.getElementById("messages");
async function look() {
  try {
    const answer = await fetch(messages.dataset.source, { headers: { "If-None-Match": messages.dataset.changed } });
    if (answer.status === 200) {
      messages.dataset.changed = answer.headers.get("ETag");
      messages.innerHTML = await answer.text();
    }
  } finally {
    setTimeout(look, 700);
  }
}
// "4 min ago" stays true without asking the server, as it does in Slack.
setInterval(() => {
  for (const time of document.querySelectorAll("time.ago")) {
    const minutes = Math.floor((Date.now() - Date.parse(time.dateTime)) / 60000);
    if (minutes >= 1 && minutes < 60) time.textContent = `${minutes}\u00a0min ago`;
  }
}, 5000);
look();
