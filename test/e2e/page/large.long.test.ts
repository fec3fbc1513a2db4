import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { openTab, SKIP_BROWSER } from '../../support/browser/browser.js'
import { resultOf } from '../../support/rpcClient.js'

/* The log explorer on a large database that another process serves, see docs/page.md. */

const url = process.env.PAGE_URL
const skip = SKIP_BROWSER || (url === undefined ? 'needs PAGE_URL, a server of a large database' : false)

interface Log {
  address: string
  topics: string[]
}

/** The page loads more of a query with more results, but a test need not. */
const MOST_LOGS = 10_000

test('the log explorer has the logs of eth_getLogs on a large database', { skip }, async (t) => {
  const { page, visit } = await openTab(t, url!)
  type Status = { head: { number: string }; counts: { logs: number } }
  const { head, counts } = await resultOf<Status>(url!, 'cairn_getStatus')
  t.diagnostic(`${counts.logs} logs up to block ${Number(head.number)}`)
  let compared = 0
  for (const [i, part] of [0.1, 0.35, 0.6, 0.85, 0.99].entries()) {
    const block = `0x${Math.floor(Number(head.number) * part).toString(16)}`
    const [log] = await resultOf<Log[]>(url!, 'eth_getLogs', [{ fromBlock: block, toBlock: block }])
    if (log === undefined) continue
    const fields: Record<string, string> = i % 2 === 0 ? { address: log.address } : {}
    if (i > 0 && log.topics.length > 1) fields.topic1 = log.topics[1]
    if (Object.keys(fields).length === 0) fields.topic0 = log.topics[0] ?? ''
    // A trailing null would ask for logs with at least that many topics.
    const topics = fields.topic1 ? [fields.topic0 || null, fields.topic1] : fields.topic0 ? [fields.topic0] : []
    const filter = { address: fields.address, topics, fromBlock: 'earliest', toBlock: 'latest' }
    await visit(`#/logs?${new URLSearchParams({ ...fields, run: '1' })}`)
    const begun = performance.now()
    await page.getByRole('rowheader').first().waitFor()
    t.diagnostic(`${JSON.stringify(fields)}: first rows after ${Math.round(performance.now() - begun)} ms`)
    const expected = await resultOf<Log[]>(url!, 'eth_getLogs', [filter]).catch((error: Error) => error)
    if (expected instanceof Error) {
      assert.match(expected.message, new RegExp(`more than ${MOST_LOGS}`))
      await page.getByText('there are more').waitFor()
      continue
    }
    const more = page.getByRole('button', { name: 'Load more' })
    const all = page.getByText(/logs?, all of them/)
    for (;;) {
      await more.or(all).first().waitFor()
      if (await all.isVisible()) break
      await more.click()
    }
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'JSON', exact: true }).click()
    const saved = JSON.parse(readFileSync(await (await downloading).path(), 'utf8'))
    assert.deepEqual(saved, expected, JSON.stringify(filter))
    t.diagnostic(`  ${expected.length} logs, equal`)
    compared++
  }
  assert.ok(compared > 0, 'every filter matched too much to be compared')
})
