import assert from 'node:assert/strict'
import { send } from '../rpcClient.js'
import { listAsks } from './allAnswers.js'

/** Fails unless both servers give the same answers to all that can be asked about the chain of the database in
 *  `datadir`. */
export async function compareServers(
  expected: { url: string },
  server: { url: string },
  datadir: string,
): Promise<void> {
  const asks = listAsks(datadir).filter(({ method }) => method.startsWith('eth_') || method.startsWith('debug_'))
  for (let from = 0; from < asks.length; from += 100) {
    const batch = asks.slice(from, from + 100).map((each, id) => ({ jsonrpc: '2.0', id, ...each }))
    const [wanted, found] = await Promise.all([send(expected.url, batch), send(server.url, batch)])
    for (const [i, answer] of (wanted as unknown as object[]).entries()) {
      assert.deepEqual((found as unknown as object[])[i], answer, JSON.stringify(batch[i]))
    }
  }
}
