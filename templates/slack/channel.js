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
look();
