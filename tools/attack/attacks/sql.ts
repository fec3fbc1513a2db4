import type { Attack, Attacker } from '../attack.js'
import { inParallel, pause } from '../sockets.js'

const MANY = 'WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n)'

/** Queries whose rows are large, many or never come. */
const QUERIES = [
  "SELECT printf('%.*c', 80000000, 'x') AS row",
  'SELECT hex(zeroblob(40000000)) AS row',
  `${MANY} SELECT i, hex(zeroblob(5000000)) AS row FROM n`,
  `${MANY} SELECT i, hex(zeroblob(1000)) AS row FROM n`,
  `${MANY} SELECT i FROM n`,
  `${MANY} SELECT count(*) FROM n`,
  `SELECT ${Array.from({ length: 1900 }, (_, i) => `hex(zeroblob(8000)) AS c${i}`).join(', ')}`,
]

/** Rows of queries that use up memory and time. */
export const sqlRows: Attack = {
  name: 'SQL rows',
  what: 'six clients that query rows of 80 MB, rows of 10 MB without end, millions of small rows, and never read some of them',
  options: ['--sql'],
  async run(attacker) {
    const { random, signal } = attacker
    await inParallel(6, signal, async () => {
      const refused = await query(attacker, QUERIES[random.below(QUERIES.length)], random.below(4) > 0)
      if (refused) await pause(signal, 50)
    })
  },
}

/** Reads an answer for some seconds, or nothing of it. True when the server refused. */
async function query({ target, signal, count }: Attacker, sql: string, reads: boolean): Promise<boolean> {
  const { host, port, sqlPath } = target
  const over = AbortSignal.any([signal, AbortSignal.timeout(5_000)])
  try {
    const response = await fetch(`http://${host}:${port}${sqlPath}`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain' },
      body: sql,
      signal: over,
    })
    if (response.status === 200 && !reads) {
      await pause(over, 5_000)
      count('not read')
    } else {
      for await (const _part of response.body!);
      count(`answered ${response.status}`)
    }
    return response.status !== 200
  } catch {
    if (!signal.aborted) count(over.aborted ? 'read for 5 s' : 'cut off')
    return false
  }
}
