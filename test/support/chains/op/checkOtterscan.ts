import assert from 'node:assert/strict'
import { formatQuantity } from '../../../../src/lib/hex.js'
import { resultOf, resultsOf } from '../../rpcClient.js'
import type { ExecutedBlock } from './opChain.js'

/* The methods of Otterscan on a chain of the OP stack. Its block page computes the burnt fee and the reward from
 * `totalFees` and `gasUsedDepositTx` (otterscan/otterscan, BlockReward.tsx). */

const SEQUENCER_FEE_VAULT = '0x4200000000000000000000000000000000000011'
const BASE_FEE_VAULT = '0x4200000000000000000000000000000000000019'

// biome-ignore lint/suspicious/noExplicitAny: JSON of the methods
type Json = any

/** Checks what a server answers about the blocks of the executed chain. */
export async function checkOtterscan(url: string, blocks: readonly ExecutedBlock[]): Promise<void> {
  const numbers = blocks.map((_, number) => number).slice(1)
  const ids = numbers.map((number) => [formatQuantity(number)])
  const found = await resultsOf<Json>(...([url, 'eth_getBlockByNumber', ids.map(([id]) => [id, true])] as const))
  const receipts = await resultsOf<Json[]>(url, 'eth_getBlockReceipts', ids)
  const details = await resultsOf<Json>(url, 'ots_getBlockDetails', ids)
  const pages = await resultsOf<Json>(...([url, 'ots_getBlockTransactions', ids.map(([id]) => [id, 0, 25])] as const))
  let freeGas = 0n
  for (const [i, block] of found.entries()) {
    checkFees(blocks, block, details[i])
    freeGas += BigInt(details[i].gasUsedDepositTx)
    const transactions = block.transactions.map((each: Json) => ({ ...each, input: each.input.slice(0, 10) }))
    assert.deepEqual(pages[i].fullblock.transactions, transactions)
    assert.deepEqual(
      pages[i].receipts,
      receipts[i].map((each) => ({ ...each, logs: null, logsBloom: null })),
    )
  }
  assert.ok(freeGas > 0n)
  await checkNonces(url, found)
  await checkSearch(url, found, receipts.flat())
}

/** Compares fees of gas with what op-geth added to the vaults. */
function checkFees(blocks: readonly ExecutedBlock[], block: Json, details: Json): void {
  const number = Number(block.number)
  const added = (vault: string) => BigInt(blocks[number].balances[vault]) - BigInt(blocks[number - 1].balances[vault])
  const paidGas = BigInt(block.gasUsed) - BigInt(details.gasUsedDepositTx)
  const burnt = paidGas * BigInt(block.baseFeePerGas)
  assert.equal(burnt, added(BASE_FEE_VAULT), `base fees of block ${number}`)
  assert.equal(BigInt(details.totalFees) - burnt, added(SEQUENCER_FEE_VAULT), `tips of block ${number}`)
  assert.equal(BigInt(details.issuance.issuance), 0n)
}

/** Finds every transaction by its nonce: those of deposits are the ones that their sender had, before Canyon too. */
async function checkNonces(url: string, blocks: readonly Json[]): Promise<void> {
  const sent = blocks.flatMap(({ transactions, number }) => {
    const seen = new Map<string, number>()
    return transactions.map(({ from, hash, nonce, type }: Json) => {
      const earlier = seen.get(from) ?? 0
      seen.set(from, earlier + 1)
      return { from, hash, nonce: Number(nonce), earlier, before: formatQuantity(Number(number) - 1), type }
    })
  })
  const counts = await resultsOf<string>(
    ...([url, 'eth_getTransactionCount', sent.map(({ from, before }) => [from, before])] as const),
  )
  const nonces = sent.map(({ type, nonce, earlier }, i) => (type === '0x7e' ? Number(counts[i]) + earlier : nonce))
  assert.ok(
    nonces.some((nonce, i) => nonce !== sent[i].nonce),
    'there are deposits whose receipts have no nonce',
  )
  const params = sent.map(({ from }, i) => [from, nonces[i]])
  assert.deepEqual(
    await resultsOf(url, 'ots_getTransactionBySenderAndNonce', params),
    sent.map(({ hash }) => hash),
  )
}

/** The first deposit of a user in the pages of its sender, and what traces of it say. */
async function checkSearch(url: string, blocks: readonly Json[], receipts: readonly Json[]): Promise<void> {
  const transactions = blocks.flatMap((block) => block.transactions)
  const failed = receipts.find(({ type, status }) => type === '0x7e' && status === '0x0')
  const deposit = transactions.find(({ hash }) => hash === failed.transactionHash)
  const page = await resultOf<Json>(url, 'ots_searchTransactionsAfter', [deposit.from, 0, 25])
  const at = page.txs.findIndex(({ hash }: Json) => hash === deposit.hash)
  assert.deepEqual(page.txs[at], deposit)
  const { timestamp, ...receipt } = page.receipts[at]
  assert.deepEqual(receipt, failed)
  assert.equal(typeof timestamp, 'number')
  assert.equal(await resultOf(url, 'ots_getTransactionError', [deposit.hash]), '0x')
  assert.deepEqual(await resultOf(url, 'ots_getInternalOperations', [deposit.hash]), [])
  // Before Canyon, where the receipt has no address.
  const { hash, from } = transactions.find(({ type, to }) => type === '0x7e' && to === null)
  const { to } = await resultOf<Json>(url, 'debug_traceTransaction', [hash, { tracer: 'callTracer' }])
  assert.deepEqual(await resultOf(url, 'ots_getContractCreator', [to]), { hash, creator: from })
}
