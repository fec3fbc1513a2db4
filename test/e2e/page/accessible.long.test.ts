import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { cutTables, findViolations, LOOKS } from '../../support/browser/accessibility.js'
import { openTab, SKIP_BROWSER } from '../../support/browser/browser.js'
import { serveFixture } from '../../support/cairn.js'
import { ALICE, CAROL, TOKEN } from '../../support/chains/fixtureChain.js'
import { resultOf } from '../../support/rpcClient.js'

const skip = SKIP_BROWSER
const { url } = skip ? { url: '' } : await serveFixture({ after }, ['--sql'])

const QUERY = encodeURIComponent('SELECT number, gas_used FROM v_blocks ORDER BY number LIMIT 20')

/** Each view with what it shows when it is ready. `$T` is a transaction with a transfer, `$M` one that mints, `$F` one
 *  that failed. */
const VIEWS: readonly (readonly [fragment: string, ...texts: string[]])[] = [
  ['#/', 'Newest blocks', 'Newest transactions'],
  ['#/block/71', 'Withdrawals'],
  ['#/tx/$M', 'mint(address,uint256)'],
  ['#/tx/$T', 'Balance changes'],
  ['#/tx/$T?tab=logs', 'Transfer(address,address,uint256)'],
  ['#/tx/$M?tab=calls', '1 frame'],
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
  ['#/logs', 'Search the logs of the whole chain'],
  [`#/logs?address=${TOKEN}&explain=1`, '7 logs, all of them', 'Conditions'],
  ['#/search?q=transfer', 'Matches of transfer'],
  ['#/search?q=nothing', 'Nothing here is named nothing'],
  ['#/console/eth_getLogs', 'Send'],
  ['#/l2', 'Status'],
  ['#/l2/3', 'Sequencer'],
  ['#/sql', 'Query'],
  [`#/sql?run=1&q=${QUERY}`, '20 rows in'],
  ['#/nowhere', 'There is no such place'],
]

/** Every field has a label, and every table a caption. */
async function checkLabels(page: Page, place: string): Promise<void> {
  const unlabelled = await page.evaluate(`
    [...document.querySelectorAll('input, select, textarea, button, a')]
      .filter((each) => !(each.ariaLabel || each.textContent.trim() || each.labels?.length > 0)).map((each) => each.outerHTML)`)
  assert.deepEqual(unlabelled, [], place)
  const bare = 'table:not(:has(caption)), th:not([scope])'
  assert.equal(await page.evaluate(`document.querySelectorAll('${bare}').length`), 0, place)
}

/** Of the smallest phone, in pixels. */
const LEAST_WIDTH = 360

// Links of the current parts in rows that scroll sideways.
const CURRENT_OUT_OF_VIEW = `[...document.querySelectorAll('nav [aria-current]')]
  .filter((link) => {
    const { left, right } = link.getBoundingClientRect()
    return left < 0 || right > innerWidth
  }).map((link) => link.textContent)`

for (const [look, { colorScheme, width }] of LOOKS.entries()) {
  const name = `${colorScheme}, ${width} px`
  test(`every view is complete, labelled and fits, and axe finds no violation: ${name}`, { skip }, async (t) => {
    const ofToken = { address: TOKEN, fromBlock: 'earliest', toBlock: 'latest' }
    const logs = await resultOf<{ transactionHash: string; blockNumber: string }[]>(url, 'eth_getLogs', [ofToken])
    const transfer = logs.find(({ blockNumber }) => blockNumber === '0x22')!
    const { transactions } = await resultOf<{ transactions: string[] }>(url, 'eth_getBlockByNumber', ['0x15', false])
    const { page, visit, shoot, overflow } = await openTab(t, url, { width, height: 844, colorScheme })
    for (const [i, [fragment, ...texts]] of VIEWS.entries()) {
      const place = fragment
        .replace('$T', transfer.transactionHash)
        .replace('$M', logs[0].transactionHash)
        .replace('$F', transactions[0])
      await visit(place)
      for (const text of texts) await page.getByText(text).filter({ visible: true }).first().waitFor()
      assert.equal(await page.getByRole('alert').count(), 0, place)
      if (place.startsWith('#/sql?')) await page.getByRole('button', { name: 'Chart' }).click()
      for (const each of await page.locator('.function').all())
        await each.evaluate((form) => form.setAttribute('open', ''))
      await shoot(`view-${i}-${colorScheme}-${width}`)
      await checkLabels(page, place)
      assert.deepEqual(await findViolations(page, { ofLook: look > 0 }), [], place)
      assert.ok((await overflow()) <= 0, `${place} is wider than the window`)
      assert.deepEqual(await cutTables(page), [], place)
      assert.deepEqual(await page.evaluate(CURRENT_OUT_OF_VIEW), [], `${place}: current links that do not show`)
      if (width > LEAST_WIDTH * 2) continue
      await page.setViewportSize({ width: LEAST_WIDTH, height: 740 })
      assert.ok((await overflow()) <= 0, `${place} is wider than the smallest window`)
      await page.setViewportSize({ width, height: 844 })
    }
    const background = await page.evaluate('getComputedStyle(document.body).backgroundColor')
    assert.equal(background === 'rgb(18, 21, 20)', colorScheme === 'dark')
  })
}
