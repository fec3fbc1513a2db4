import assert from 'node:assert/strict'
import { test } from 'node:test'
import { packagePath } from '../../../src/store/open.js'
import { openTab, SKIP_BROWSER } from '../../support/browser/browser.js'
import { serveFixture } from '../../support/cairn.js'
import { ALICE, BOB, TOKEN } from '../../support/chains/fixtureChain.js'
import { resultOf } from '../../support/rpcClient.js'

/* A walk through the page in Chromium, as a user who follows a transfer takes it. */

interface Log {
  transactionHash: string
  blockNumber: string
}

const TRANSFER = 'Transfer(address,address,uint256)'

test('a transaction is searched and followed to its block, address, logs and their plan', {
  skip: SKIP_BROWSER,
}, async (t) => {
  const { url } = await serveFixture(t)
  const filter = { address: TOKEN, fromBlock: 'earliest', toBlock: 'latest' }
  const logs = await resultOf<Log[]>(url, 'eth_getLogs', [filter])
  const { transactionHash, blockNumber } = logs[1]
  const { page, visit, untilTitle, shoot } = await openTab(t, url)
  const main = page.getByRole('main')

  await visit('')
  await page.getByText('Newest blocks').first().waitFor()
  const shownMs = await page.evaluate('performance.now()')
  t.diagnostic(`the overview was shown ${Math.round(Number(shownMs))} ms after it was asked for`)
  assert.match(await main.innerText(), /Blocks stored\s+0 – 74/)
  // Long enough for the first rate.
  await page.getByText('per second').waitFor()
  await shoot('walk-1-overview')

  await page.keyboard.press('/')
  await page.keyboard.type(transactionHash)
  await page.keyboard.press('Enter')
  await untilTitle('Transaction')
  await page.getByText('transfer(address,uint256)').waitFor()
  const transaction = await main.innerText()
  assert.match(transaction, /success/)
  for (const address of [ALICE, TOKEN]) assert.ok(transaction.toLowerCase().includes(address), address)
  assert.match(transaction, /transfer\(address,uint256\)/)
  await shoot('walk-2-transaction')

  await page.getByRole('link', { name: 'Logs (1)' }).click()
  await page.getByText(TRANSFER).waitFor()
  assert.ok((await main.innerText()).toLowerCase().includes(BOB))
  await shoot('walk-3-transaction-logs')
  await page.getByRole('link', { name: 'Internal calls' }).click()
  await page.getByText('1 frame', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'State changes' }).click()
  await page.getByText('3 accounts').waitFor()
  assert.match(await main.innerText(), /nonce\s+\d+ →/)
  await shoot('walk-4-state-changes')

  await page.getByRole('link', { name: 'Overview' }).last().click()
  await main.getByRole('link', { name: String(Number(blockNumber)), exact: true }).click()
  await untilTitle(`Block ${Number(blockNumber)}`)
  await main.getByRole('link', { name: /^0x/ }).first().waitFor()
  await shoot('walk-5-block')

  await main.locator(`a[href="#/address/${TOKEN}"]`).first().click()
  await untilTitle('Contract')
  await page.getByRole('columnheader', { name: 'Transaction', exact: true }).waitFor()
  assert.match(await main.innerText(), /460 bytes/)
  await shoot('walk-6-address')

  await main.getByRole('link', { name: 'Logs', exact: true }).click()
  await untilTitle('Logs')
  await page.getByLabel('Event').fill(TRANSFER)
  await page.getByRole('button', { name: 'Search and explain' }).click()
  await page.getByText(`${logs.length} logs, all of them`).waitFor()
  await page.getByRole('button', { name: /^Tail: / }).click()
  await page.getByRole('heading', { name: 'Conditions' }).waitFor()
  const shown = await main.innerText()
  for (const log of logs) assert.ok(shown.includes(log.transactionHash.slice(0, 8)), log.transactionHash)
  assert.match(shown, /Logs in the range\s+10,553/)
  await shoot('walk-7-logs-and-plan')
  t.diagnostic(`screenshots: ${packagePath('build/screenshots')}`)
})
