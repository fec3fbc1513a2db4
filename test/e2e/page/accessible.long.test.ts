import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { cutTables, findViolations, LOOKS } from '../../support/browser/accessibility.js'
import { openTab, SKIP_BROWSER } from '../../support/browser/browser.js'
import { serveFixture } from '../../support/cairn.js'
import { ALICE, CAROL, TOKEN } from '../../support/chains/fixtureChain.js'
import { resultOf } from '../../support/rpcClient.js'

const skip = SKIP_BROWSER
const { url } = skip ? { url: '' } : await serveFixture({ after }, ['--sql'])

const QUERY = encodeURIComponent('SELECT number, gas_used FROM v_blocks ORDER BY number LIMIT 20')

/** Each view with what it shows when it is ready. `$T` is a transaction with a transfer, `$F` one that failed. */
const VIEWS: readonly (readonly [fragment: string, text: string])[] = [
  ['#/', 'Newest transactions'],
  ['#/block/71', 'Withdrawals'],
  ['#/tx/$T', 'Balance changes'],
  ['#/tx/$T?tab=logs', 'Transfer(address,address,uint256)'],
  ['#/tx/$F', 'Failed in'],
  ['#/tx/$F?tab=calls', '1 frame'],
  ['#/tx/$T?tab=state', '3 accounts'],
  [`#/address/${ALICE}`, 'Older →'],
  [`#/address/${ALICE}?tab=balance`, 'read at 75 blocks'],
  [`#/address/${ALICE}?tab=tokens`, 'Cairn Stone'],
  [`#/address/${ALICE}?tab=transfers`, 'newest first'],
  [`#/address/${CAROL}?tab=internal`, 'no index of internal transfers'],
  [`#/token/${TOKEN}`, 'newest first'],
  [`#/token/${TOKEN}?tab=holders`, '3 holders'],
  [`#/address/${TOKEN}?tab=events`, '7 logs, all of them'],
  [`#/address/${TOKEN}?tab=contract`, 'Cairn Stone'],
  [`#/address/${TOKEN}?tab=code`, '460 bytes'],
  [`#/address/${TOKEN}?tab=storage`, 'Read'],
  [`#/logs?address=${TOKEN}&explain=1`, 'Conditions'],
  ['#/search?q=transfer', 'Matches of transfer'],
  ['#/console/eth_getLogs', 'Send'],
  ['#/l2', 'Status'],
  ['#/l2/3', 'Sequencer'],
  [`#/sql?run=1&q=${QUERY}`, '20 rows in'],
  ['#/nowhere', 'There is no such place'],
]

for (const { colorScheme, width } of LOOKS) {
  test(`axe finds no violation, and tables fit: ${colorScheme}, ${width} px`, { skip }, async (t) => {
    const filter = { address: TOKEN, fromBlock: '0x22', toBlock: '0x22' }
    const [{ transactionHash }] = await resultOf<{ transactionHash: string }[]>(url, 'eth_getLogs', [filter])
    const { transactions } = await resultOf<{ transactions: string[] }>(url, 'eth_getBlockByNumber', ['0x15', false])
    const { page, visit, overflow } = await openTab(t, url, { width, height: 844, colorScheme })
    for (const [fragment, text] of VIEWS) {
      const place = fragment.replace('$T', transactionHash).replace('$F', transactions[0])
      await visit(place)
      await page.getByText(text).filter({ visible: true }).first().waitFor()
      if (place.startsWith('#/sql')) await page.getByRole('button', { name: 'Chart' }).click()
      for (const each of await page.locator('.function').all())
        await each.evaluate((form) => form.setAttribute('open', ''))
      assert.deepEqual(await findViolations(page), [], place)
      assert.ok((await overflow()) <= 0, `${place} is wider than the window`)
      assert.deepEqual(await cutTables(page), [], place)
    }
  })
}
