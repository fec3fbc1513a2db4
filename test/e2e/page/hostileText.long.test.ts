import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { keccak256, parseAbi, toHex } from 'viem'
import { openTab, SKIP_BROWSER } from '../../support/browser/browser.js'
import { runCairnOk, startCairn } from '../../support/cairn.js'
import {
  CALLER,
  FIRST_ACCOUNT,
  HOSTILE,
  LIAR,
  SHOUTER,
  STORED,
  writeHostileChain,
} from '../../support/chains/hostileChain.js'
import { endOfFile } from '../../support/endings.js'
import { temporaryDirectory } from '../../support/temporary.js'

/* Text that contracts, ABIs, Sourcify bundles, signature files, wallets and queries bring is shown as text. */

const NAME = '"><img src=x onerror=window.hacked=1>'

const BUNDLE = {
  compiler: { version: '0.8.37+commit.f401782d' },
  output: { abi: parseAbi(['function shout() view returns (string)', 'error Closed(string why)']) },
  settings: { compilationTarget: { [NAME]: HOSTILE } },
  sources: { [`${NAME}.sol`]: { keccak256: keccak256(toHex(HOSTILE)), content: HOSTILE } },
}

const LAYOUT = {
  storage: [
    { label: HOSTILE, offset: 0, slot: '0', type: 't_string_storage' },
    { label: NAME, offset: 0, slot: '1', type: HOSTILE },
  ],
  types: {
    t_string_storage: { encoding: 'bytes', label: NAME, numberOfBytes: '32' },
    [HOSTILE]: { encoding: 'mapping', label: HOSTILE, numberOfBytes: '32', key: 't_string_storage', value: HOSTILE },
  },
}

const WALLET = `
  const provider = { request: async () => { throw new Error(${JSON.stringify(HOSTILE)}) } }
  const info = { uuid: 'w', name: ${JSON.stringify(HOSTILE)}, icon: 'data:,', rdns: 'x' }
  addEventListener('eip6963:requestProvider', () =>
    dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider } })))`

const ending = endOfFile()
let chain: Awaited<ReturnType<typeof writeHostileChain>>
let url = ''

before(async () => {
  if (SKIP_BROWSER) return
  const datadir = temporaryDirectory(ending)
  chain = await writeHostileChain(datadir)
  const [abi, signatures, bundle] = [`${NAME}.json`, 'signatures.txt', 'bundle'].map((name) => join(datadir, name))
  writeFileSync(abi, JSON.stringify(parseAbi(['function name() view returns (string)', 'function give(string what)'])))
  writeFileSync(signatures, '0x12345678 <img src=x onerror=window.hacked=1>()\n0xd09de08a increment()\n')
  mkdirSync(bundle)
  writeFileSync(join(bundle, 'metadata.json'), JSON.stringify(BUNDLE))
  writeFileSync(join(bundle, 'storageLayout.json'), JSON.stringify(LAYOUT))
  const add = ['abi', 'add', `${LIAR}=${abi}`, '--signatures', signatures, '--sourcify', `${SHOUTER}=${bundle}`]
  await runCairnOk([...add, '--datadir', datadir])
  url = (await startCairn(ending, ['--datadir', datadir, '--open', '--sql'])).url
})

test('text of others is shown as text, and its direction does not turn the page around', {
  skip: SKIP_BROWSER,
}, async (t) => {
  const { called, failed } = chain
  const { page, visit } = await openTab(t, url)
  await page.addInitScript(WALLET)
  const query = `SELECT '${HOSTILE.replaceAll("'", "''")}' AS "${NAME.replaceAll('"', '""')}", 1 AS n UNION ALL SELECT '<b>', 2`
  const views: [fragment: string, text: string][] = [
    ['#/', 'Account 0'],
    [`#/tx/${called}`, '<img src=x'],
    [`#/tx/${called}?tab=logs`, 'URI(string,uint256)'],
    [`#/tx/${called}?tab=calls`, 'setName'],
    [`#/tx/${failed}`, '<img src=x'],
    [`#/tx/${failed}?tab=calls`, 'failed here'],
    [`#/address/${LIAR}`, '<img src=x'],
    [`#/address/${LIAR}?tab=contract`, 'give(string)'],
    [`#/address/${LIAR}?tab=events`, 'Transfer'],
    [`#/address/${SHOUTER}?tab=contract`, 'solc 0.8.37'],
    [`#/address/${SHOUTER}?tab=contract`, STORED],
    [`#/search?q=${encodeURIComponent(NAME)}`, NAME],
    [`#/search?q=${encodeURIComponent(HOSTILE)}`, 'Nothing here is named'],
    ['#/search?q=svg%20onload', '<img src=x'],
    [`#/sql?run=1&q=${encodeURIComponent(query)}`, '<b>'],
    [`#/token/${LIAR}`, '<img src=x'],
    [`#/token/${LIAR}?tab=holders`, '<img src=x'],
    [`#/address/${LIAR}?tab=tokens`, '<img src=x'],
    [`#/address/${LIAR}?tab=transfers`, '<img src=x'],
  ]
  for (const [fragment, text] of views) {
    await visit(fragment)
    await page.getByText(text).filter({ visible: true }).first().waitFor()
    if (text === STORED) {
      await page.getByText('Source, 1 file').click()
      await page.getByText(`${NAME}.sol`).click()
      await page.locator('.source pre', { hasText: '<script>' }).waitFor()
      assert.doesNotMatch(await page.locator('main').innerText(), /\u202e/)
    }
    const made = await page.evaluate(
      `document.querySelectorAll('main img, main script, main [onload], main [onerror]').length`,
    )
    assert.equal(made, 0, fragment)
    assert.equal(await page.evaluate('globalThis.hacked'), undefined, fragment)
    const turned = await page.evaluate(`
      [...document.querySelectorAll('main h1, main h2, main a.label, main .badge.label, main .token')].filter((each) =>
        each.textContent.includes('\\u202e')).length`)
    assert.equal(turned, 0, fragment)
  }
})

test('a failure names the calls down to the one that failed', { skip: SKIP_BROWSER }, async (t) => {
  const { page, visit } = await openTab(t, url)
  await visit(`#/tx/${chain.failed}`)
  const links = page.locator('.path a')
  await links.nth(1).waitFor()
  const hrefs = await links.evaluateAll((each) => each.map((link) => (link as unknown as { hash: string }).hash))
  assert.deepEqual(hrefs, [`#/address/${CALLER}`, `#/address/${SHOUTER}`])
})

test('the accounts of a development node have labels', { skip: SKIP_BROWSER }, async (t) => {
  const { page, visit, untilTitle } = await openTab(t, url)
  await visit('#/')
  const table = page.getByRole('table', { name: 'Accounts of the development node' })
  await table.getByText('10,000').waitFor()
  assert.equal(await table.getByRole('row').count(), 2, 'the heading, and the only account that has ether')
  await table.getByRole('link', { name: 'Account 0' }).click()
  await untilTitle('Address Account 0')
  assert.equal(await page.evaluate('location.hash'), `#/address/${FIRST_ACCOUNT}`)
})
