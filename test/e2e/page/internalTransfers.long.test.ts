import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { cutTables, findViolations } from '../../support/browser/accessibility.js'
import { openTab, SKIP_BROWSER } from '../../support/browser/browser.js'
import { serveFixture, startCairn } from '../../support/cairn.js'
import { makeCallChain } from '../../support/chains/callChain.js'
import { CAROL } from '../../support/chains/fixtureChain.js'
import { seededRandom } from '../../support/random.js'
import { resultOf } from '../../support/rpcClient.js'
import { temporaryDirectory } from '../../support/temporary.js'

/* Internal transfers of an address on the page, compared with cairn_getInternalTransfers. */

const skip = SKIP_BROWSER

interface Transfer {
  transactionHash: string
  transferIndex: string
  from: string
  to: string
  value: string
}

const ACCOUNT = `0x${'c0'.padEnd(39, '0')}5`

test('the internal transfers of an address are all on its pages and in its file', { skip }, async (t) => {
  const datadir = temporaryDirectory(t)
  const chain = { random: seededRandom(5), fork: 'shanghai', count: 100, maxTransactions: 30 } as const
  await makeCallChain(datadir, chain, { traces: true })
  const { url } = await startCairn(t, ['--datadir', datadir, '--open'])
  const { page, visit } = await openTab(t, url)
  const transfers: Transfer[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const filter = { account: ACCOUNT, limit: 10_000, cursor }
    const part = await resultOf<{ transfers: Transfer[]; cursor: string | null }>(url, 'cairn_getInternalTransfers', [
      filter,
    ])
    transfers.push(...part.transfers)
    cursor = part.cursor
  }
  assert.ok(transfers.length > 50, `${transfers.length} transfers are more than a page`)
  await visit(`#/address/${ACCOUNT}`)
  await page.getByRole('link', { name: 'Internal transfers' }).click()
  const table = page.getByRole('table', { name: 'Internal transfers' })
  const hashes: string[] = []
  for (;;) {
    await table.waitFor()
    const links = table.locator('tbody th a')
    hashes.push(...(await links.evaluateAll((each) => each.map((link) => (link as unknown as { hash: string }).hash))))
    const older = page.getByRole('link', { name: 'Older →' })
    if ((await older.count()) === 0) break
    const href = await older.getAttribute('href')
    await older.click()
    await page.locator(`.pages a[href="${href}"]`).waitFor({ state: 'detached' })
  }
  assert.deepEqual(
    hashes,
    transfers.map(({ transactionHash }) => `#/tx/${transactionHash}`),
  )
  await page.setViewportSize({ width: 390, height: 844 })
  assert.deepEqual([await findViolations(page), await cutTables(page)], [[], []])
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'CSV' }).click()
  const [heading, ...rows] = readFileSync(await (await downloading).path(), 'utf8')
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','))
  const columns = ['transaction_hash', 'transfer_index', 'from', 'to', 'value'].map((name) => heading.indexOf(name))
  assert.deepEqual(
    rows.map((row) => columns.map((column) => row[column])),
    transfers.map(({ transactionHash, transferIndex, from, to, value }) => [
      transactionHash,
      String(Number(transferIndex)),
      from,
      to,
      String(BigInt(value)),
    ]),
  )
})

test('without the trace index the tab says how to make it', { skip }, async (t) => {
  const { url } = await serveFixture(t)
  const { page, visit } = await openTab(t, url)
  await visit(`#/address/${CAROL}?tab=internal`)
  await page.getByText('This server has no index of internal transfers').waitFor()
  await page.getByText('cairn reindex --traces').first().waitFor()
})
