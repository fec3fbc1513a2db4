import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openTab, SKIP_BROWSER } from '../../support/browser/browser.js'
import { runCairnOk, serveFixture, startCairn } from '../../support/cairn.js'
import { HEAD, TOKEN } from '../../support/chains/fixtureChain.js'
import { importFixture } from '../../support/chains/fixtureDatabase.js'
import { resultOf } from '../../support/rpcClient.js'
import { temporaryDirectory } from '../../support/temporary.js'

const skip = SKIP_BROWSER
const { url } = skip ? { url: '' } : await serveFixture({ after })

const transactionsOf = async (block: number) =>
  (await resultOf<{ transactions: string[] }>(url, 'eth_getBlockByNumber', [`0x${block.toString(16)}`, false]))
    .transactions

test('names that every object has are places that are not there', { skip }, async (t) => {
  const { page, visit, untilTitle } = await openTab(t, url)
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    await visit(`#/${name}`)
    await untilTitle('Not found')
    await visit('#/')
    await page.getByText('Newest blocks').first().waitFor()
  }
  for (const place of ['block', 'tx', 'address', 'console', 'l2', 'sql', 'logs']) {
    await visit(`#/${place}/__proto__?tab=constructor&q=__proto__`)
    await page.getByRole('heading', { level: 1 }).waitFor()
  }
  await visit('#/')
  await page.getByText('Newest blocks').first().waitFor()
})

test('the title of the window names the block, the transaction and the address', { skip }, async (t) => {
  const { page, visit, untilTitle } = await openTab(t, url)
  const [hash] = await transactionsOf(21)
  for (const [fragment, heading, title] of [
    ['#/block/21', 'Block 21', 'Block 21 · Cairn'],
    [`#/tx/${hash}`, 'Transaction', `Transaction ${hash.slice(0, 8)}…${hash.slice(-6)} · Cairn`],
    [`#/address/${TOKEN}`, 'Contract', `Contract ${TOKEN.slice(0, 8)}…${TOKEN.slice(-6)} · Cairn`],
  ]) {
    await visit(fragment)
    await untilTitle(heading)
    await page.waitForFunction(`document.title === ${JSON.stringify(title)}`)
  }
})

test('a failed transaction says why, and so does its call', { skip }, async (t) => {
  const { page, visit } = await openTab(t, url)
  const [text, panic] = await transactionsOf(21)
  await visit(`#/tx/${text}`)
  await page.getByText('execution reverted: not allowed').waitFor()
  await page.getByText('Error(string)').waitFor()
  await visit(`#/tx/${panic}?tab=calls`)
  await page.getByText('execution reverted: arithmetic underflow or overflow').waitFor()
})

test('links beside words are underlined', { skip }, async (t) => {
  const { page, visit } = await openTab(t, url)
  const [hash] = await transactionsOf(21)
  await visit(`#/tx/${hash}`)
  const link = page.getByRole('main').getByRole('link', { name: '21', exact: true })
  await link.waitFor()
  const line = await page.evaluate("getComputedStyle(document.querySelector('.facts dd a.number')).textDecorationLine")
  assert.match(String(line), /underline/)
})

test('the beginning of a hash or address is searched in the newest blocks', { skip }, async (t) => {
  const { page, visit, untilTitle } = await openTab(t, url)
  const [hash] = await transactionsOf(HEAD - 10)
  await visit(`#/search?q=${hash.slice(0, 16)}`)
  await untilTitle('Transaction')
  await visit('#/search?q=0x5fbdb')
  await page.getByText(/Nothing in blocks 50 to 74 begins with 0x5fbdb/).waitFor()
  await visit('#/search?q=0x0015')
  await untilTitle('Block 21')
})

test('a link with a key does not replace the key of a tab', { skip }, async (t) => {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  const create = async (name: string) => (await runCairnOk(['keys', 'create', name, '--datadir', datadir])).trim()
  const [own, other] = [await create('own'), await create('other')]
  const server = await startCairn(t, ['--datadir', datadir])
  const { page, visit } = await openTab(t, server.url)
  const stored = () => page.evaluate("sessionStorage.getItem('cairn-key')")
  await visit(`#key=${own}`)
  await page.getByText('Newest blocks').first().waitFor()
  await visit(`#key=${other}`)
  await page.getByText('The link has another API key').waitFor()
  assert.equal(await stored(), own)
  assert.equal(await page.evaluate('location.hash'), '#/')
  await page.getByRole('button', { name: 'Keep my key' }).click()
  assert.equal(await stored(), own)
  await visit(`#key=${other}`)
  await page.getByRole('button', { name: 'Use the key of the link' }).click()
  assert.equal(await stored(), other)
  await page.getByText('Newest blocks').first().waitFor()
})
