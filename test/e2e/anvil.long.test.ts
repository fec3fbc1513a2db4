import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { formatQuantity } from '../../src/lib/hex.js'
import { findAnvil, startAnvil } from '../support/anvil.js'
import { checkFollowing, type Peer } from '../support/followPeer.js'
import { type Answer, resultOf, send } from '../support/rpcClient.js'

const BATCH = 100
const path = findAnvil()

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

/** Anvil as a peer. One transaction fills a block. */
async function startPeer(t: TestContext, args: readonly string[]): Promise<Peer> {
  // All states are kept in memory: those that anvil wrote to disk come back without code, as a reorg of 64 blocks shows.
  const whole = ['--no-mining', '--gas-limit', '210000', '--order', 'fifo', '--prune-history', '10000']
  const { url, wsUrl } = await startAnvil(t, path!, [...whole, ...args])
  const [from] = await resultOf<string[]>(url, 'eth_accounts')
  return {
    url,
    wsUrl,
    mine: async (transactions) => {
      const nonce = Number(await resultOf<string>(url, 'eth_getTransactionCount', [from, 'latest']))
      const params = transactions.map((each, i) => [{ from, ...each, nonce: formatQuantity(nonce + i) }])
      const hashes = (await sendAll(url, 'eth_sendTransaction', params)) as string[]
      await resultOf(url, 'anvil_mine', [formatQuantity(hashes.length)])
      return hashes
    },
    reorg: async (depth) => void (await resultOf(url, 'anvil_reorg', [depth, []])),
    // It leaves the list of withdrawals out of the size, and has blob prices and timestamps in all receipts.
    faults: /^(debug_|eth_getBlockBy\w+ result\.size:|\w+Receipts? result\S*\.(blobGasPrice|blockTimestamp):)/,
  }
}

const skip = path === undefined && 'anvil cannot be installed'

test('anvil is followed through 5,000 blocks and reorgs of 1, 5 and 64 blocks, and every answer is its own', {
  skip,
}, async (t) => {
  // From Prague on each block takes anvil longer than the one before: it hashes the whole history of EIP-2935.
  await checkFollowing(t, await startPeer(t, ['--hardfork', 'cancun']), { blocks: 5_000, depths: [1, 5, 64] })
})

test('anvil is followed with its newest hard fork', { skip }, async (t) => {
  await checkFollowing(t, await startPeer(t, []), { blocks: 200, depths: [30] })
})
