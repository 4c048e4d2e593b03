// Asks a question and prints the answer with its sources.
//   node ask.mjs ["question"]
// VERBATIM_URL: the service; VERBATIM_API_KEY: the key of the agent that answers.
const { VERBATIM_URL = 'http://127.0.0.1:7091', VERBATIM_API_KEY = 'demo' } = process.env;
const [question = 'What happens to a stream when its producer dies?'] = process.argv.slice(2);

const response = await fetch(`${VERBATIM_URL}/api/answer`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ question, api_key: VERBATIM_API_KEY }),
});
const body = await response.json();
if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(body)}`);

console.log(`answer: ${body.answer}`);
for (const { title } of body.sources) console.log(`source: ${title}`);
console.log(`conversation: ${body.conversation_id}`);
