import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from '../support/browser/addressPages.js'
import { serveFixture } from '../support/cairn.js'
import { ALICE, CHILD, TOKEN } from '../support/chains/fixtureChain.js'
import { resultOf, ask as send } from '../support/rpcClient.js'

/* The calls of Otterscan's address page, as its SearchController makes them: 25 a page, the block of the last or first
 * transaction for the next or previous one. */

const PAGE_SIZE = 25

test('an explorer turns the pages of an address from the first to the last and back', async (t) => {
  const { url } = await serveFixture(t)
  const ask = <T>(method: string, ...params: unknown[]) => resultOf<T>(url, method, params)
  assert.equal(await ask('ots_getApiLevel'), 8)
  for (const address of [ALICE, TOKEN, CHILD]) {
    assert.equal(
      await ask('ots_hasCode', address, 'latest'),
      address !== ALICE && (await ask('eth_getCode', address, 'latest')) !== '0x',
    )
    const before = (block: number) => ask<Page>('ots_searchTransactionsBefore', address, block, PAGE_SIZE)
    const after = (block: number) => ask<Page>('ots_searchTransactionsAfter', address, block, PAGE_SIZE)
    const forward: Page[] = [await before(0)]
    assert.equal(forward[0].firstPage, true)
    while (!forward.at(-1)!.lastPage) forward.push(await before(Number(forward.at(-1)!.txs.at(-1)!.blockNumber)))
    const back: Page[] = [await after(0)]
    assert.equal(back[0].lastPage, true)
    while (!back[0].firstPage) back.unshift(await after(Number(back[0].txs[0].blockNumber)))
    const hashesOf = (pages: readonly Page[]) => pages.flatMap(({ txs }) => txs.map(({ hash }) => hash))
    const hashes = hashesOf(forward)
    assert.deepEqual(hashesOf(back), hashes)
    assert.equal(new Set(hashes).size, hashes.length)
    for (const { txs, receipts, internalCalls } of forward) {
      assert.equal(internalCalls, true)
      for (const [i, tx] of txs.entries()) {
        assert.deepEqual(tx, await ask('eth_getTransactionByHash', tx.hash))
        const { timestamp, ...receipt } = receipts[i]
        assert.deepEqual(receipt, await ask('eth_getTransactionReceipt', tx.hash))
        const block = await ask<{ timestamp: string }>('eth_getBlockByNumber', tx.blockNumber, false)
        assert.equal(timestamp, Number(block.timestamp))
      }
    }
    if (address === ALICE) assert.ok(forward.length > 1)
  }
  const { error } = await send(url, 'ots_searchTransactionsBefore', [ALICE, 0, 26])
  assert.match(error!.message, /pageSize: expected a whole number from 1 to 25, got 26/)
})
