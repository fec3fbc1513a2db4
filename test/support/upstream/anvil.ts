import assert from 'node:assert/strict'
import { formatQuantity } from '../../../src/lib/hex.js'
import { spawnProgram } from '../cairn.js'
import { type Answer, resultOf, send } from '../rpcClient.js'
import type { Peer } from './followPeer.js'

const BATCH = 100

/** Anvil as a peer. */
export interface AnvilPeer extends Peer {
  /** Sends the transactions without mining them. @returns their hashes */
  send(transactions: readonly object[]): Promise<string[]>
}

/** Starts anvil, ended with the test. One transaction fills a block of `gasLimit` when it may use all but less than
 *  21,000 of that gas. */
export async function startAnvilPeer(
  t: { after(callback: () => void | Promise<void>): void },
  path: string,
  { args = [], gasLimit = 210_000 }: { args?: readonly string[]; gasLimit?: number } = {},
): Promise<AnvilPeer> {
  // All states are kept in memory: those that anvil wrote to disk come back without code, as a reorg of 64 blocks
  // shows.
  const fixed = ['--port', '0', '--no-mining', '--order', 'fifo', '--prune-history', '10000', '--gas-limit']
  const { child, ended, waitFor } = spawnProgram(path, [...fixed, `${gasLimit}`, ...args])
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const [, address] = await waitFor('stdout', /Listening on (\S+)/)
  const url = `http://${address}`
  const [from] = await resultOf<string[]>(url, 'eth_accounts')
  const sendTransactions = async (transactions: readonly object[]): Promise<string[]> => {
    const nonce = Number(await resultOf<string>(url, 'eth_getTransactionCount', [from, 'latest']))
    const params = transactions.map((each, i) => [{ from, ...each, nonce: formatQuantity(nonce + i) }])
    return (await sendAll(url, 'eth_sendTransaction', params)) as string[]
  }
  return {
    url,
    wsUrl: `ws://${address}`,
    send: sendTransactions,
    mine: async (transactions) => {
      const hashes = await sendTransactions(transactions)
      await resultOf(url, 'anvil_mine', [formatQuantity(hashes.length)])
      return hashes
    },
    reorg: async (depth) => void (await resultOf(url, 'anvil_reorg', [depth, []])),
    // It leaves the list of withdrawals out of the size, and has blob prices and timestamps in all receipts.
    faults: /^(debug_|eth_getBlockBy\w+ result\.size:|\w+Receipts? result\S*\.(blobGasPrice|blockTimestamp):)/,
  }
}

/** Sends calls in batches. @returns the results in order */
async function sendAll(url: string, method: string, params: readonly unknown[][]): Promise<unknown[]> {
  const results: unknown[] = []
  for (let from = 0; from < params.length; from += BATCH) {
    const batch = params.slice(from, from + BATCH).map((each, id) => ({ jsonrpc: '2.0', id, method, params: each }))
    const answers = (await send(url, batch)) as unknown as (Answer & { id: number })[]
    for (const { error } of answers) assert.equal(error, undefined, error?.message)
    results.push(...answers.sort((a, b) => a.id - b.id).map(({ result }) => result))
  }
  return results
}
