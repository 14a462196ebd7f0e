// What a program of node does: a question, values, a named statement, a mistake. One line of JSON for each.
const { Client } = require("pg");

(async () => {
  const client = new Client({ host: "127.0.0.1", port: process.argv[2], user: "ana", database: "nowiser" });
  await client.connect();
  const said = (value) => console.log(JSON.stringify(value));
  const counted = "SELECT COUNT(*) AS n FROM visits WHERE faculty = $1";
  said((await client.query("SELECT faculty, COUNT(*) AS n FROM visits GROUP BY faculty ORDER BY faculty")).rows);
  said((await client.query(counted, ["math"])).rows);
  for (let i = 0; i < 2; i++) said((await client.query({ name: "counted", text: counted, values: ["math"] })).rows);
  try {
    await client.query("SELECT AVG(tim) FROM visits");
  } catch (wrong) {
    said([wrong.code, wrong.position]);
  }
  await client.end();
})();
