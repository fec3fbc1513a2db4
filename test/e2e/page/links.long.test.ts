import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openTab, SKIP_BROWSER } from '../../support/browser/browser.js'
import { serveFixture } from '../../support/cairn.js'
import { TOKEN } from '../../support/chains/fixtureChain.js'
import { resultOf } from '../../support/rpcClient.js'

/* Links to the page: paths of EIP-3091, queries, and what the search finds. */

const skip = SKIP_BROWSER
const { url } = skip ? { url: '' } : await serveFixture({ after }, ['--sql'])

test('paths of wallets open the views', { skip }, async (t) => {
  const { page, untilTitle } = await openTab(t, url)
  const { transactions } = await resultOf<{ transactions: string[] }>(url, 'eth_getBlockByNumber', ['0x15', false])
  for (const [path, heading, hash] of [
    ['block/21', 'Block 21', '#/block/21'],
    ['block/0x15', 'Block 21', '#/block/0x15'],
    [`tx/${transactions[0]}`, 'Transaction', `#/tx/${transactions[0]}`],
    [`address/${TOKEN.toUpperCase().replace('0X', '0x')}`, 'Contract', `#/address/${TOKEN}`],
    [`token/${TOKEN}`, 'Token Cairn Stone', `#/token/${TOKEN}`],
  ]) {
    await page.goto(`${url}/${path}`)
    await untilTitle(heading)
    assert.equal(await page.evaluate('location.pathname + location.hash'), `/${hash}`)
  }
})

test('a query is in the address, in the history, and in a chart', { skip }, async (t) => {
  const { page, visit } = await openTab(t, url)
  const query = 'SELECT number, gas_used FROM v_blocks WHERE number < 30 ORDER BY number'
  await visit('#/sql')
  await page.getByRole('textbox', { name: 'Query' }).fill(query)
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('30 rows in').waitFor()
  const link = String(await page.evaluate('location.hash'))
  await visit(link)
  await page.getByText('30 rows in').waitFor()
  assert.equal(await page.getByRole('textbox', { name: 'Query' }).inputValue(), query)
  await page.getByRole('button', { name: 'Chart' }).click()
  await page.getByRole('img', { name: 'Chart of gas_used by number, 30 rows' }).waitFor()
  assert.equal(await page.locator('.result-chart circle').count(), 30)
  await page.getByText('Schema', { exact: true }).click()
  await page.getByText('v_blocks', { exact: true }).click()
  await page.getByRole('textbox', { name: 'Query' }).fill('')
  await page.getByRole('button', { name: 'insert the name' }).filter({ visible: true }).first().click()
  assert.equal(await page.getByRole('textbox', { name: 'Query' }).inputValue(), 'v_blocks')
  await page.getByText('History in this browser, 1').click()
  await page.getByRole('button', { name: query }).click()
  assert.equal(await page.getByRole('textbox', { name: 'Query' }).inputValue(), query)
  await page.getByRole('button', { name: 'Clear the history' }).click()
  assert.equal(await page.evaluate("localStorage.getItem('cairn-sql-history')"), '[]')
})

test('names of functions, events and methods are found', { skip }, async (t) => {
  const { page, visit, untilTitle } = await openTab(t, url)
  await visit('#/search?q=transfer')
  const rows = page.getByRole('table', { name: 'Matches' }).getByRole('row')
  await rows.nth(1).waitFor()
  const texts = await rows.allTextContents()
  for (const name of ['transfer(address,uint256)', 'Transfer(address,address,uint256)', 'transferFrom']) {
    assert.ok(
      texts.some((text) => text.includes(name)),
      `${name} in ${texts}`,
    )
  }
  await visit('#/search?q=eth_getStorageVal')
  await untilTitle('Console')
  await page.getByRole('heading', { name: 'eth_getStorageValues' }).waitFor()
  await visit('#/search?q=0xa9059cbb')
  await untilTitle('SQL')
  await page.getByText(/^\d+ rows in/).waitFor()
  await visit('#/search?q=getReserves')
  await untilTitle('SQL')
})
