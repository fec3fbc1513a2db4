import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Page } from 'playwright-core'
import { encodeFunctionData, erc20Abi, formatUnits, parseAbi } from 'viem'
import { openTab, SKIP_BROWSER } from '../../support/browser/browser.js'
import { runCairnOk, serveFixture, startCairn } from '../../support/cairn.js'
import { FIXTURE_FOLDER } from '../../support/chains/fixture.js'
import { ALICE, BOB, CHAIN_ID, TOKEN } from '../../support/chains/fixtureChain.js'
import { importFixture } from '../../support/chains/fixtureDatabase.js'
import { resultOf } from '../../support/rpcClient.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { until } from '../../support/until.js'

/* The address page: names, contracts that are read and written, files. */

const skip = SKIP_BROWSER
const { url } = skip ? { url: '' } : await serveFixture({ after })

const CONTRACT = `#/address/${TOKEN}?tab=contract`

async function saved(page: Page, click: () => Promise<void>): Promise<string> {
  const downloading = page.waitForEvent('download')
  await click()
  return readFileSync(await (await downloading).path(), 'utf8')
}

test('functions are read at any block, and a wrong argument is named', { skip }, async (t) => {
  const { page, visit } = await openTab(t, url)
  await visit(CONTRACT)
  await page.locator('bdi.break', { hasText: 'Cairn Stone' }).waitFor()
  await page.getByText('balanceOf(address)').click()
  const form = page.locator('.function', { hasText: 'balanceOf(address)' })
  await form.getByLabel('account').fill('0x12')
  await form.getByRole('button', { name: 'Read' }).click()
  await form.getByText('account: an address is 0x and 40 hex digits').waitFor()
  await form.getByLabel('account').fill(ALICE)
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [ALICE] })
  const balances = new Set<string>()
  for (const block of ['latest', '16', '22']) {
    const at = block === 'latest' ? block : `0x${Number(block).toString(16)}`
    const balance = BigInt(await resultOf<string>(url, 'eth_call', [{ to: TOKEN, data }, at]))
    balances.add(String(balance))
    await page.getByLabel('Read at block').fill(block)
    await form.getByRole('button', { name: 'Read' }).click()
    await form.getByText(`At block ${block}`).waitFor()
    await form.getByText(balance.toLocaleString('en-US'), { exact: true }).waitFor()
  }
  assert.ok(balances.size > 1, 'the balance differs from block to block')
  await page.getByText('transfer(address,uint256)').click()
  const transfer = page.locator('.function', { hasText: 'transfer(address,uint256)' })
  await transfer.getByRole('button', { name: 'Simulate' }).waitFor()
  assert.equal(await transfer.getByRole('button', { name: 'Send by the wallet' }).count(), 0, 'nothing is forwarded')
})

test('an ABI of this browser is used until it is removed', { skip }, async (t) => {
  const { page, visit } = await openTab(t, url)
  await visit(CONTRACT)
  await page.getByLabel('JSON ABI').fill('{"abi": [{"type": "function"}]}')
  await page.getByRole('button', { name: 'Use it in this browser' }).click()
  await page.getByRole('alert').waitFor()
  const abi = parseAbi(['function mine(uint256[] list, (address who, bool yes) pair)'])
  await page.getByLabel('JSON ABI').fill(JSON.stringify(abi))
  await page.getByRole('button', { name: 'Use it in this browser' }).click()
  await visit(CONTRACT)
  await page.getByRole('heading', { name: 'Your ABI' }).waitFor()
  await page.getByText('mine(uint256[],(address,bool))').waitFor()
  await page.getByRole('button', { name: 'Remove your ABI' }).click()
  await visit(CONTRACT)
  await page.locator('bdi.break', { hasText: 'Cairn Stone' }).waitFor()
  assert.equal(await page.getByRole('heading', { name: 'Your ABI' }).count(), 0)
})

test('a contract has the name of its ABI, and is found by it', { skip }, async (t) => {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  const path = join(datadir, 'StoneToken.json')
  writeFileSync(
    path,
    JSON.stringify(parseAbi(['function decimals() view returns (uint8)', 'event Moved(address who)'])),
  )
  await runCairnOk(['abi', 'add', `${TOKEN}=${path}`, '--datadir', datadir])
  const server = await startCairn(t, ['--datadir', datadir, '--open'])
  const { page, visit, untilTitle } = await openTab(t, server.url)
  await visit('#/search?q=stone')
  await untilTitle('Contract StoneToken')
  await page.waitForFunction(`document.title.startsWith('Contract StoneToken 0x')`)
  await page.getByText('18', { exact: true }).or(page.getByText('Balance')).first().waitFor()
  await visit(`#/address/${ALICE}?before=35`)
  await page.getByRole('link', { name: 'StoneToken' }).first().waitFor()
  await visit('#/search?q=moved')
  await untilTitle('Logs')
  await page.getByText('No log matches').waitFor()
})

test('the transactions of an address are saved as CSV, with method, fee and time', { skip }, async (t) => {
  const { page, visit } = await openTab(t, url)
  await visit(`#/address/${ALICE}`)
  await page.getByRole('columnheader', { name: 'Fee, ETH' }).waitFor()
  await page.getByText('totalSupply').first().waitFor()
  const text = await saved(page, () => page.getByRole('button', { name: 'CSV' }).click())
  const { txs, receipts } = await historyOf(ALICE)
  const [heading, ...rows] = text
    .trim()
    .split('\r\n')
    .map((line) => line.split(','))
  assert.deepEqual(
    rows.map(([hash]) => hash),
    txs.map(({ hash }) => hash),
  )
  assert.ok(rows.length > 25, 'more than a page')
  const fee = heading.indexOf('fee')
  assert.deepEqual(
    rows.map((row) => row[fee]),
    receipts.map(({ gasUsed, effectiveGasPrice }) => String(BigInt(gasUsed) * BigInt(effectiveGasPrice))),
  )
  assert.match(rows[0][heading.indexOf('time')], /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
})

test('a transaction has its fee in parts, its transfers and its balance changes', { skip }, async (t) => {
  const { page, visit } = await openTab(t, url)
  const filter = { address: TOKEN, fromBlock: '0x22', toBlock: '0x22' }
  const [{ transactionHash }] = await resultOf<{ transactionHash: string }[]>(url, 'eth_getLogs', [filter])
  interface Receipt {
    gasUsed: string
    effectiveGasPrice: string
  }
  const receipt = await resultOf<Receipt>(url, 'eth_getTransactionReceipt', [transactionHash])
  const block = await resultOf<{ baseFeePerGas: string }>(url, 'eth_getBlockByNumber', ['0x22', false])
  const burnt = BigInt(receipt.gasUsed) * BigInt(block.baseFeePerGas)
  const fee = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
  await visit(`#/tx/${transactionHash}`)
  const main = page.getByRole('main')
  await main.getByText(`burnt ${formatUnits(burnt, 18)}, tip ${formatUnits(fee - burnt, 18)}`).waitFor()
  await main.getByText('41 confirmations').waitFor()
  await page.getByRole('table', { name: 'Token transfers' }).getByText('STONE').waitFor()
  const changes = page.getByRole('table', { name: 'Balance changes' })
  await changes.locator(`[title="−${formatUnits(fee, 18)} ETH"]`).waitFor()
  await changes.locator(`a[href="#/address/${BOB}"]`).waitFor()
})

interface History {
  txs: { hash: string; blockNumber: string }[]
  receipts: { gasUsed: string; effectiveGasPrice: string }[]
}

/** All transactions of an address, newest first. */
async function historyOf(address: string): Promise<History> {
  const all: History = { txs: [], receipts: [] }
  for (let before = 0; ; before = Number(all.txs.at(-1)!.blockNumber)) {
    const params = [address, before, 25]
    const page = await resultOf<History & { lastPage: boolean }>(url, 'ots_searchTransactionsBefore', params)
    all.txs.push(...page.txs)
    all.receipts.push(...page.receipts)
    if (page.lastPage) return all
  }
}

const HASH = `0x${'ab'.repeat(32)}`

/** A wallet on another chain, which has to add ours. Notes what it is asked for. */
const WALLET = `
  globalThis.asked = []
  let chainId = '0x1'
  globalThis.ethereum = {
    async request({ method, params }) {
      asked.push([method, params?.[0]])
      if (method === 'eth_requestAccounts') return ['${ALICE}']
      if (method === 'eth_chainId') return chainId
      if (method === 'wallet_switchEthereumChain') throw Object.assign(new Error('unknown chain'), { code: 4902 })
      if (method === 'wallet_addEthereumChain') chainId = params[0].chainId
      return method === 'eth_sendTransaction' ? '${HASH}' : null
    },
  }`

test('a function is written by an injected wallet where transactions are forwarded', { skip }, async (t) => {
  const chain = ['--genesis', join(FIXTURE_FOLDER, 'genesis.json'), '--open', '--upstream', url]
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  const server = await startCairn(t, ['--datadir', datadir, ...chain, '--forward-transactions'])
  await until(async () => Number(await resultOf(server.url, 'eth_blockNumber')) === 74)
  const { page, visit } = await openTab(t, server.url)
  await page.addInitScript(WALLET)
  await visit(CONTRACT)
  await page.getByText('transfer(address,uint256)').click()
  const form = page.locator('.function', { hasText: 'transfer(address,uint256)' })
  await form.getByLabel('to').fill(BOB)
  await form.getByLabel('value').fill('5')
  await form.getByRole('button', { name: 'Send by the wallet' }).click()
  await form.getByText('Sent:').waitFor()
  const asked = (await page.evaluate('asked')) as [string, { [member: string]: unknown } | undefined][]
  assert.deepEqual(
    asked.map(([method]) => method),
    [
      'eth_requestAccounts',
      'eth_chainId',
      'wallet_switchEthereumChain',
      'wallet_addEthereumChain',
      'eth_chainId',
      'eth_sendTransaction',
    ],
  )
  const added = asked[3][1]!
  assert.equal(Number(added.chainId), CHAIN_ID)
  assert.deepEqual([added.rpcUrls, added.blockExplorerUrls], [[`${server.url}/v3`], [`${server.url}/`]])
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [BOB, 5n] })
  assert.deepEqual(asked[5][1], { from: ALICE, to: TOKEN, data, value: '0x0' })
})

test('an ABI is added for all users with a key that has the right, and refused without it', { skip }, async (t) => {
  const datadir = temporaryDirectory(t)
  await importFixture(datadir)
  const create = async (...args: string[]) =>
    (await runCairnOk(['keys', 'create', ...args, '--datadir', datadir])).trim()
  const [plain, granted] = [await create('plain'), await create('granted', '--methods', '*,abi')]
  const server = await startCairn(t, ['--datadir', datadir])
  const abi = parseAbi(['function decimals() view returns (uint8)'])
  for (const key of [plain, granted]) {
    const { page, visit, untilTitle } = await openTab(t, server.url)
    await visit(`#key=${key}`)
    await page.getByText('Newest blocks').first().waitFor()
    await page.goto(`${server.url}/${CONTRACT}`)
    await page.getByLabel('JSON ABI').fill(JSON.stringify(abi))
    await page.getByLabel('Name of the contract').fill('Stone')
    await page.getByRole('button', { name: 'Add it for all users' }).click()
    if (key === plain) await page.getByText('needs an API key whose methods name abi').waitFor()
    else await untilTitle('Contract Stone')
  }
})
