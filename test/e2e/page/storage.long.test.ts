import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { cutTables, findViolations } from '../../support/browser/accessibility.js'
import { openTab, SKIP_BROWSER } from '../../support/browser/browser.js'
import { runCairnOk, startCairn } from '../../support/cairn.js'
import {
  CABINET,
  CABINET_PROXY,
  cabinetBundle,
  writeBundle,
  writeCabinetChain,
} from '../../support/chains/cabinetChain.js'
import { endOfFile } from '../../support/endings.js'
import { resultOf } from '../../support/rpcClient.js'
import { temporaryDirectory } from '../../support/temporary.js'

/* Variables and sources on the contract tab, compared with cairn_getStorageVariables. */

const skip = SKIP_BROWSER
const ending = endOfFile()
let url = ''

before(async () => {
  if (skip) return
  const datadir = temporaryDirectory(ending)
  await writeCabinetChain(datadir)
  const bundle = join(temporaryDirectory(ending), 'cabinet')
  writeBundle(bundle, cabinetBundle())
  await runCairnOk(['abi', 'add', '--sourcify', `${CABINET}=${bundle}`, '--datadir', datadir])
  const server = await startCairn(ending, ['--datadir', datadir, '--open'])
  url = server.url
})

interface Variable {
  name: string
  value: string
  parts?: Variable[]
}

test('variables and sources of a contract are shown at any block, mappings by a key', { skip }, async (t) => {
  const { page, visit } = await openTab(t, url)
  await visit(`#/address/${CABINET}?tab=contract`)
  const table = page.getByRole('table', { name: 'Variables' })
  await table.waitFor()
  const rowOf = (label: string) =>
    table.getByRole('row').filter({ has: page.locator('bdi', { hasText: new RegExp(`^${label}$`) }) })
  const read = (block: string, ...path: string[]) =>
    resultOf<[Variable]>(url, 'cairn_getStorageVariables', [CABINET, block, path]).then(([found]) => found)
  for (const [text, block] of [
    ['1', '0x1'],
    ['2', '0x2'],
  ]) {
    await page.getByLabel('Read at block').fill(text)
    const [title, pair] = [await read(block, 'title'), await read(block, 'pair')]
    await rowOf('title').getByText(title.value, { exact: true }).waitFor()
    const left = BigInt(pair.parts![0].value).toLocaleString('en-US')
    await rowOf('pair.left').getByText(left, { exact: true }).waitFor()
  }
  const keeper = (await read('0x2', 'keeper')).value
  await page.getByLabel('Key of balances', { exact: true }).fill('0x12')
  await page.getByLabel('Key of balances', { exact: true }).press('Enter')
  await page.getByText('a key of type address is 0x and 40 hex digits').waitFor()
  await page.getByLabel('Key of balances', { exact: true }).fill(keeper)
  await page.getByLabel('Key of balances', { exact: true }).press('Enter')
  for (const [text, block] of [
    ['2', '0x2'],
    ['1', '0x1'],
  ]) {
    await page.getByLabel('Read at block').fill(text)
    const balance = BigInt((await read(block, 'balances', keeper)).value).toLocaleString('en-US')
    await rowOf(`balances\\[${keeper}\\]`).getByText(balance, { exact: true }).waitFor()
  }
  await page.getByText('Source, 1 file').click()
  await page.getByText('Cabinet.sol', { exact: true }).click()
  const source = cabinetBundle()['sources/Cabinet.sol']
  assert.equal(await page.locator('details.source pre').textContent(), source)
  await page.setViewportSize({ width: 390, height: 844 })
  assert.deepEqual([await findViolations(page), await cutTables(page)], [[], []])
  await visit(`#/address/${CABINET_PROXY}?tab=contract`)
  await table.waitFor()
  const [title] = await resultOf<[Variable]>(url, 'cairn_getStorageVariables', [CABINET_PROXY, 'latest', ['title']])
  await rowOf('title').getByText(title.value, { exact: true }).waitFor()
})
