import assert from 'node:assert/strict'
import { send } from '../rpcClient.js'
import { THOROUGH } from '../thorough.js'
import { listAsks } from './allAnswers.js'

// A prime to the numbers of calls about a block, a transaction and a change of state: each kind is asked.
const STEP = THOROUGH ? 1 : 7

/** Fails unless both servers give the same answers to every seventh call that asks about the chain of the database in
 *  `datadir`, to all with `npm run test:thorough`. */
export async function compareServers(
  expected: { url: string },
  server: { url: string },
  datadir: string,
): Promise<void> {
  const asks = listAsks(datadir).filter(({ method }) => method.startsWith('eth_') || method.startsWith('debug_'))
  const chosen = asks.filter((_, i) => i % STEP === 0)
  for (let from = 0; from < chosen.length; from += 100) {
    const batch = chosen.slice(from, from + 100).map((each, id) => ({ jsonrpc: '2.0', id, ...each }))
    const [wanted, found] = await Promise.all([send(expected.url, batch), send(server.url, batch)])
    for (const [i, answer] of (wanted as unknown as object[]).entries()) {
      assert.deepEqual((found as unknown as object[])[i], answer, JSON.stringify(batch[i]))
    }
  }
}
