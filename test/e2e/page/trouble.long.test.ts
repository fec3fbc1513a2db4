import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { packagePath } from '../../../src/store/open.js'
import { openTab, SKIP_BROWSER } from '../../support/browser/browser.js'
import { runCairnOk, startCairn } from '../../support/cairn.js'
import { HEAD } from '../../support/chains/fixtureChain.js'
import { copyDatabase, importFixture } from '../../support/chains/fixtureDatabase.js'
import { endOfFile } from '../../support/endings.js'
import { resultOf } from '../../support/rpcClient.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { until } from '../../support/until.js'

const skip = SKIP_BROWSER
const GENESIS = packagePath('fixtures/chain/genesis.json')
const CHAIN = packagePath('fixtures/chain/chain.rlp')

const ending = endOfFile()
const imported = temporaryDirectory(ending)
let key = ''
let url = ''

before(async () => {
  if (skip) return
  await runCairnOk(['import', '--datadir', imported, '--genesis', GENESIS, CHAIN])
  const datadir = copyDatabase(ending, imported)
  key = (await runCairnOk(['keys', 'create', 'page', '--datadir', datadir])).trim()
  url = (await startCairn(ending, ['--datadir', datadir])).url
})

test('a key is asked for, a wrong one is refused, and no URL of a request over HTTP has it', { skip }, async (t) => {
  const { page, visit, shoot, requests } = await openTab(t, url, { expectErrors: true })
  await visit('')
  await page.getByText('This server asks for an API key').waitFor()
  await shoot('key-asked-for')
  // All but one of the responses to the wrong key come once the right one is used.
  const wrong = '0'.repeat(32)
  let refused = 0
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route('**/v3', async (route) => {
    if (route.request().headers()['x-api-key'] === wrong && refused++ > 0) await released
    await route.continue()
  })
  await page.getByLabel('This server asks for an API key').fill(wrong)
  await page.keyboard.press('Enter')
  await page.getByText('The server does not know this API key').waitFor()
  await page.getByLabel('The server does not know this API key').fill(key)
  await page.keyboard.press('Enter')
  await page.getByText('Newest blocks').first().waitFor()
  assert.ok(refused > 1, `${refused} requests`)
  const late = page.waitForResponse((response) => response.request().headers()['x-api-key'] === wrong)
  release()
  await late
  await page.getByText('live ·').waitFor()
  assert.equal(
    await page.getByText('API key', { exact: false }).filter({ visible: true }).count(),
    1,
    'the footer forgets it',
  )
  const http = requests.filter((each) => each.startsWith('http'))
  assert.deepEqual(
    http.filter((each) => each.includes(key)),
    [],
  )

  await page.getByRole('button', { name: 'Forget the API key' }).click()
  await page.getByText('This server asks for an API key').waitFor()
})

test('the address that npm start prints brings the key, and does not keep it in sight', { skip }, async (t) => {
  const { page, visit, requests } = await openTab(t, url)
  await visit(`#key=${key}`)
  await page.getByText('Newest blocks').first().waitFor()
  assert.equal(page.url(), `${url}/#/`)
  assert.deepEqual(
    requests.filter((each) => each.startsWith('http') && each.includes(key)),
    [],
  )
  await page.reload()
  await page.getByText('Newest blocks').first().waitFor()
})

test('a server that is gone is named, and the page resumes when it is back', { skip }, async (t) => {
  const datadir = copyDatabase(t, imported)
  const server = await startCairn(t, ['--datadir', datadir, '--open'])
  const { page, visit, shoot } = await openTab(t, server.url, { expectErrors: true })
  await visit('')
  await page.getByText('live ·').waitFor()
  await server.stop()
  await page.getByText('The server does not answer. The page tries again').waitFor()
  await shoot('server-gone')
  await page.getByRole('link', { name: 'Layer 2' }).click()
  await page.getByText('The page loads again by itself').waitFor()
  await startCairn(t, ['--datadir', datadir, '--open', '--port', new URL(server.url).port])
  await page.getByText('This database holds no layer-2 blocks').waitFor()
  await page.getByText('live ·').waitFor()
  assert.equal(await page.getByText('does not answer').count(), 0)
})

test('blocks that are imported while the page is open appear on it', { skip }, async (t) => {
  const datadir = copyDatabase(t, imported)
  await runCairnOk(['rewind', '--datadir', datadir, '--to', '40'])
  const { url } = await startCairn(t, ['--datadir', datadir, '--open'])
  const { page, visit } = await openTab(t, url)
  await visit('')
  await page.getByText('live · block 40').waitFor()
  await runCairnOk(['import', '--datadir', datadir, CHAIN])
  await page.getByText(`live · block ${HEAD}`).waitFor()
  await page
    .getByRole('main')
    .getByRole('link', { name: String(HEAD) })
    .first()
    .waitFor()
})

test('a database without blocks says what to do', { skip }, async (t) => {
  const datadir = temporaryDirectory(t)
  await runCairnOk(['keys', 'create', 'page', '--datadir', datadir])
  const { url } = await startCairn(t, ['--datadir', datadir, '--open'])
  const { page, visit } = await openTab(t, url)
  await visit('')
  await page.getByText('There are no blocks yet').waitFor()
  assert.equal((await resultOf<{ head: null }>(url, 'cairn_getStatus')).head, null)
})

test('a chain that does not grow is announced with its reason', { skip }, async (t) => {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  const server = await startCairn(t, ['--datadir', datadir, '--open', '--upstream', 'http://127.0.0.1:1'])
  await until(async () => {
    const { problem } = (await (await fetch(`${server.url}/health`)).json()) as { problem: object | null }
    return problem !== null
  })
  const { page, visit } = await openTab(t, server.url)
  await visit('#/block/3')
  const banner = page.getByRole('alert').filter({ hasText: 'The chain does not grow' })
  await banner.waitFor()
  assert.match(await banner.innerText(), /layer 1 is stuck.*, connection/)
})
