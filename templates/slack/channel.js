// Shows new messages without a reload. Without this script the page is the same, only older.
const messages = document.getElementById("messages");
// A form that opens covers the channel, as in Slack.
function follow() {
  const modal = messages.querySelector("a.open-modal");
  if (modal) location.assign(modal.href);
}
async function look() {
  try {
    const answer = await fetch(messages.dataset.source, { headers: { "If-None-Match": messages.dataset.changed } });
    if (answer.status === 200) {
      messages.dataset.changed = answer.headers.get("ETag");
      const unfolded = [...messages.querySelectorAll("details[open]")].map((thread) => thread.id);
      messages.innerHTML = await answer.text();
      for (const id of unfolded) document.getElementById(id)?.setAttribute("open", "");
      follow();
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
follow();
// The newest stands below, as in Slack, and is what people come for.
if (!location.hash) messages.querySelector("article:last-of-type")?.scrollIntoView();
look();
