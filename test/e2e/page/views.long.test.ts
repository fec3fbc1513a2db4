import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { openTab, SKIP_BROWSER } from '../../support/browser/browser.js'
import { serveFixture } from '../../support/cairn.js'
import { EMITTER, TOKEN } from '../../support/chains/fixtureChain.js'
import { resultOf } from '../../support/rpcClient.js'

const skip = SKIP_BROWSER
const { url } = await serveFixture({ after })

interface Log {
  transactionHash: string
}

test('the theme is switched and kept', { skip }, async (t) => {
  const { page, visit } = await openTab(t, url)
  await visit('#/sql')
  await page.getByRole('button', { name: 'Theme: auto' }).click()
  await page.getByRole('button', { name: 'Theme: light' }).click()
  await visit('#/sql')
  await page.getByRole('button', { name: 'Theme: dark' }).waitFor()
  assert.equal(await page.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgb(18, 21, 20)')
})

test('the page is used by keyboard alone', { skip }, async (t) => {
  const { page, visit, untilTitle } = await openTab(t, url)
  const focused = () => page.evaluate('document.activeElement.innerText || document.activeElement.ariaLabel')
  await visit('')
  await page.getByText('Newest blocks').first().waitFor()
  await page.keyboard.press('Tab')
  assert.equal(await focused(), 'Skip to content')
  const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')
  assert.equal(outline, 'solid', 'the focus is seen')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  assert.equal(await focused(), '74', 'the first link of the content')
  await page.keyboard.press('Enter')
  await untilTitle('Block 74')
  assert.equal(await focused(), 'Block 74', 'a new view takes the focus')
  await page.keyboard.press('/')
  assert.match(String(await focused()), /^Search for a block/)
  await page.keyboard.type('a/b') // a slash in the field is text
  assert.equal(await page.getByRole('searchbox').inputValue(), 'a/b')
  await page.keyboard.press('Control+A')
  await page.keyboard.type('18')
  await page.keyboard.press('Enter')
  await untilTitle('Block 18')
})

test('the log explorer has the logs of eth_getLogs, and saves them', { skip }, async (t) => {
  const { page, visit } = await openTab(t, url)
  const filter = { address: EMITTER, fromBlock: '0x0', toBlock: '0x36' }
  const expected = await resultOf<Log[]>(url, 'eth_getLogs', [filter])
  assert.ok(expected.length > 200, `${expected.length} logs are more than one load`)
  await visit(`#/logs?address=${EMITTER}&from=0&to=54`)
  await page.getByText('200 logs, there are more').waitFor()
  await page.getByRole('button', { name: 'Load more' }).click()
  await page.getByText(/logs, all of them/).waitFor()
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'JSON', exact: true }).click()
  const path = await (await downloading).path()
  assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), expected)
})

test('a wrong field of the filter is named and nothing is searched', { skip }, async (t) => {
  const { page, visit } = await openTab(t, url)
  await visit('#/logs')
  await page.getByLabel('From block').fill('soon')
  await page.getByRole('button', { name: 'Search', exact: true }).click()
  await page.getByText('a block is a number, or latest').waitFor()
  assert.equal(await page.getByLabel('From block').getAttribute('aria-invalid'), 'true')
  assert.equal(await page.getByText('Results').count(), 0)
})

test('storage is read at a slot and a block', { skip }, async (t) => {
  const { page, visit } = await openTab(t, url)
  await visit(`#/address/${TOKEN}?tab=storage`)
  await page.getByLabel('Slot').fill('2')
  await page.getByRole('button', { name: 'Read' }).click()
  const word = await resultOf<string>(url, 'eth_getStorageAt', [TOKEN, '0x2', 'latest'])
  await page.getByText(word).waitFor()
  await page.getByLabel('Block', { exact: true }).fill('15')
  await page.getByRole('button', { name: 'Read' }).click()
  await page.getByText(`0x${'0'.repeat(64)}`).waitFor()
  await page.getByLabel('Slot').fill('two')
  await page.getByRole('button', { name: 'Read' }).click()
  await page.getByText('a slot is a number in decimal').waitFor()
})

test('the console sends the example of a method and shows its answer, and errors', { skip }, async (t) => {
  const { page, visit } = await openTab(t, url)
  await visit('#/console/eth_getTransactionCount')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('heading', { name: 'Result' }).waitFor()
  await page.getByRole('button', { name: 'Edit as JSON' }).click()
  await page.getByLabel('Parameters as JSON').fill('["0x12","latest"]')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('invalid argument 0').waitFor()
  assert.match(await page.locator('.curl').innerText(), /^curl -s http.*\$KEY .*"params":\["0x12","latest"\]/)
})

test('text from untrusted users of the chain is shown as text', { skip }, async (t) => {
  const { page, visit, untilTitle } = await openTab(t, url)
  await visit(`#/search?q=${encodeURIComponent('<img src=x onerror=alert(1)>')}`)
  await untilTitle('Search')
  await page.getByText('Nothing here is named <img src=x').waitFor()
  assert.equal(await page.locator('main img').count(), 0)
})

test('SQL that is off says how it is switched on', { skip }, async (t) => {
  const { page, visit } = await openTab(t, url, { expectErrors: true })
  await visit('#/sql')
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('SQL is off on this server').waitFor()
})

test('SQL shows rows, and why a query fails, before its first row and after', { skip }, async (t) => {
  const server = await serveFixture(t, ['--sql', '--sql-max-rows', '600'])
  const { page, visit } = await openTab(t, server.url, { expectErrors: true })
  await visit('#/sql')
  const run = async (query: string) => {
    await page.getByRole('textbox', { name: 'Query' }).fill(query)
    await page.getByRole('button', { name: 'Run' }).click()
  }
  await run('SELECT number, hash FROM v_blocks ORDER BY number LIMIT 3')
  await page.getByText('3 rows in').waitFor()
  const cells = await page.getByRole('table', { name: 'Rows of the query' }).getByRole('row').allTextContents()
  const blocks = await Promise.all(
    [0, 1, 2].map(async (number) => {
      const { hash } = await resultOf<{ hash: string }>(url, 'eth_getBlockByNumber', [`0x${number}`, false])
      return `${number}${hash}`
    }),
  )
  assert.deepEqual(cells, ['numberhash', ...blocks])
  await run('SELECT * FROM no_such_table')
  await page.getByText('no such table: no_such_table').waitFor()
  await run('SELECT * FROM v_logs')
  await page
    .getByRole('alert')
    .getByText(/600 rows/)
    .waitFor()
})

test('searching again asks again, also when the filter is the same', { skip }, async (t) => {
  const { page, visit } = await openTab(t, url)
  const isPage = (text: string | null) => text?.includes('eth_getLogsWithCursor') === true
  await visit(`#/logs?address=${TOKEN}`)
  await page.getByText('7 logs, all of them').waitFor()
  for (const _ of [1, 2]) {
    const asked = page.waitForRequest((request) => isPage(request.postData()))
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await asked
    await page.getByText('7 logs, all of them').waitFor()
  }
})
