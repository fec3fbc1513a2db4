import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { cutTables, findViolations } from '../../support/browser/accessibility.js'
import { openTab, SKIP_BROWSER } from '../../support/browser/browser.js'
import { startCairn } from '../../support/cairn.js'
import { opAnswers, rollupConfigOf } from '../../support/chains/op/opAnswers.js'
import { readOpChain } from '../../support/chains/op/opChain.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { untilBlockNumber } from '../../support/until.js'
import { startScriptedUpstream } from '../../support/upstream/scriptedUpstream.js'

/* Deposits of the OP stack on the page. */

interface Deposit {
  readonly hash: string
  readonly type: string
  readonly mint?: string
  readonly sourceHash: string
  readonly value: string
}

test('a deposit shows what it mints and its source, and its block the block of layer 1', {
  skip: SKIP_BROWSER,
}, async (t) => {
  const chain = readOpChain()
  const answers = opAnswers(chain)
  const upstream = await startScriptedUpstream(answers)
  t.after(() => upstream.close())
  const datadir = temporaryDirectory(t)
  const rollup = join(datadir, 'rollup.json')
  writeFileSync(rollup, JSON.stringify(rollupConfigOf(chain)))
  const args = ['--datadir', datadir, '--open', '--upstream', upstream.url, '--rollup-config', rollup]
  const { url } = await startCairn(t, [...args, '--state', 'none'])
  await untilBlockNumber({ url }, answers.head)
  const { page, visit } = await openTab(t, url)
  const facts = async () => {
    const rows = await page.locator('.facts > div').allInnerTexts()
    return new Map(rows.map((row) => row.split('\n', 2).map((cell) => cell.trim()) as [string, string]))
  }

  const minting = chain.blocks.flatMap(({ block }, number) =>
    (block.transactions as unknown as readonly Deposit[])
      .filter(({ type, mint }) => type === '0x7e' && BigInt(mint ?? 0) > 0n)
      .map((deposit) => ({ deposit, number })),
  )
  assert.ok(minting.length > 0)
  const { deposit, number } = minting[minting.length - 1]
  await visit(`#/tx/${deposit.hash}`)
  await page.getByText(deposit.sourceHash).waitFor()
  const ofDeposit = await facts()
  assert.match(ofDeposit.get('Type')!, /^126 deposit/i)
  const minted = ofDeposit.get('Minted')!.replaceAll(/[^\d.]/g, '')
  assert.equal(BigInt(Math.round(Number(minted) * 1e9)), BigInt(deposit.mint!) / 1_000_000_000n)
  assert.doesNotMatch(ofDeposit.get('Fee')!, /burnt|-/)
  assert.equal(ofDeposit.has('Fee of layer 1'), false)
  await page.setViewportSize({ width: 390, height: 844 })
  assert.deepEqual([await findViolations(page), await cutTables(page)], [[], []])

  await visit(`#/block/${number}`)
  await page.getByText('Layer 1 block').waitFor()
  const ofBlock = await facts()
  assert.match(ofBlock.get('Layer 1 block')!, /^[\d,. ]+$/)
  assert.equal(ofBlock.has('Burnt'), false)
})
