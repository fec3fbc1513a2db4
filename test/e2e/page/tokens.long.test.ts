import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { formatUnits, type Hex } from 'viem'
import type { BalanceEntry, HolderEntry, Token, TransferEntry } from '../../../src/web/client/tokenTypes.js'
import { cutTables, findViolations, LOOKS } from '../../support/browser/accessibility.js'
import { openTab, SKIP_BROWSER } from '../../support/browser/browser.js'
import { startCairn } from '../../support/cairn.js'
import { importChainFolder } from '../../support/chains/chainFolder.js'
import { type TokenChain, writeTokenChain } from '../../support/chains/tokenChain.js'
import { endOfFile } from '../../support/endings.js'
import { resultOf } from '../../support/rpcClient.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { THOROUGH } from '../../support/thorough.js'

/* Tokens on the page, on a chain of odd ones, compared with the logs and with the methods of tokens. */

const skip = SKIP_BROWSER
const ending = endOfFile()
let chain: TokenChain
let url = ''

const TOPICS = [
  '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
  '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb',
]

before(async () => {
  if (skip) return
  chain = await writeTokenChain(ending)
  const datadir = temporaryDirectory(ending)
  await importChainFolder(datadir, chain.folder)
  const server = await startCairn(ending, ['--datadir', datadir, '--open'])
  url = server.url
})

/** Reads the texts of a table, one list for each row. */
async function rowsOf(page: Page, name: string): Promise<string[][]> {
  const table = page.getByRole('table', { name })
  await table.waitFor()
  const rows = await table.locator('tbody tr').all()
  return Promise.all(rows.map((row) => row.locator('th, td').allInnerTexts()))
}

/** Saves the CSV of a view. Returns its rows by column. No field of these files has a comma. */
async function savedRows(page: Page): Promise<{ [column: string]: string }[]> {
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'CSV' }).click()
  const text = readFileSync(await (await downloading).path(), 'utf8')
  const [columns, ...lines] = text
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','))
  return lines.map((fields) => Object.fromEntries(columns.map((column, i) => [column, fields[i]])))
}

const allTransfers = async (filter: object) =>
  (await resultOf<{ transfers: TransferEntry[] }>(url, 'cairn_getTokenTransfers', [{ ...filter, limit: 10_000 }]))
    .transfers

/** An amount as the page shows it, for up to nine digits before the point and for more than twelve. */
function shown(amount: bigint, decimals: number): string {
  const units = amount / 10n ** BigInt(decimals)
  if (units >= 10n ** 12n) {
    const exponent = String(units).length - 1
    return `${Math.floor(Number(units / 10n ** BigInt(exponent - 2))) / 100}e${exponent}`
  }
  const [whole, fraction = ''] = formatUnits(amount, decimals).split('.')
  const kept = fraction.slice(0, 6).replace(/0+$/, '')
  return `${BigInt(whole).toLocaleString('en-US')}${kept === '' ? '' : `.${kept}`}`
}

test('the transfers of an account are all on its pages and in its file', { skip }, async (t) => {
  const { page, visit } = await openTab(t, url)
  const [account] = chain.accounts
  const expected = await allTransfers({ account })
  assert.ok(expected.length > 60, `${expected.length} transfers are more than a page`)
  await visit(`#/address/${account}`)
  await page.getByRole('link', { name: 'Token transfers' }).click()
  const hashes: string[] = []
  for (;;) {
    const rows = await rowsOf(page, 'Token transfers')
    const links = page.getByRole('table', { name: 'Token transfers' }).locator('tbody th a')
    hashes.push(...(await links.evaluateAll((each) => each.map((link) => (link as unknown as { hash: string }).hash))))
    for (const [, , , parties] of rows) assert.match(parties, /this address/)
    const older = page.getByRole('link', { name: 'Older →' })
    if ((await older.count()) === 0) break
    const href = await older.getAttribute('href')
    await older.click()
    await page.locator(`.pages a[href="${href}"]`).waitFor({ state: 'detached' })
  }
  assert.deepEqual(
    hashes,
    expected.map(({ transactionHash }) => `#/tx/${transactionHash}`),
  )
  await page.getByRole('link', { name: '← Newest' }).click()
  await page.getByText('newest first').waitFor()
  const saved = await savedRows(page)
  assert.deepEqual(
    saved.map(({ transaction_hash, log_index, batch_index, token, from, to, id, value }) => [
      transaction_hash,
      log_index,
      batch_index,
      token,
      from,
      to,
      id,
      value,
    ]),
    expected.map((entry) => [
      entry.transactionHash,
      String(Number(entry.logIndex)),
      String(Number(entry.batchIndex)),
      entry.token,
      entry.from,
      entry.to,
      entry.id === null ? '' : String(BigInt(entry.id)),
      String(BigInt(entry.value)),
    ]),
  )
})

test('the file of an ERC-20 token has the Transfer logs of its contract', { skip }, async (t) => {
  const { page, visit, untilTitle } = await openTab(t, url)
  const token = chain.tokens.plain
  await visit(`#/token/${token}`)
  await untilTitle('Token Plain Token')
  const filter = { address: token, topics: [TOPICS[0]], fromBlock: 'earliest', toBlock: 'latest' }
  const logs = await resultOf<{ transactionHash: string; logIndex: string; topics: string[]; data: Hex }[]>(
    url,
    'eth_getLogs',
    [filter],
  )
  assert.ok(logs.length > 3)
  const saved = await savedRows(page)
  assert.deepEqual(
    saved.map(({ transaction_hash, log_index, from, to, value }) => [transaction_hash, log_index, from, to, value]),
    logs
      .toReversed()
      .map(({ transactionHash, logIndex, topics, data }) => [
        transactionHash,
        String(Number(logIndex)),
        `0x${topics[1].slice(26)}`,
        `0x${topics[2].slice(26)}`,
        String(BigInt(data)),
      ]),
  )
})

test('tokens of an account have the balance of the contract, beside that of the logs where they differ', {
  skip,
}, async (t) => {
  const { page, visit } = await openTab(t, url)
  const [, account] = chain.accounts
  const { balances } = await resultOf<{ balances: BalanceEntry[] }>(url, 'cairn_getTokenBalances', [account])
  const expected = balances.filter(
    ({ balance, balanceOf, matches }) => BigInt(balanceOf ?? balance ?? 1) !== 0n || matches === false,
  )
  await visit(`#/address/${account}?tab=tokens`)
  const rows = await rowsOf(page, 'Tokens of the address')
  assert.equal(rows.length, expected.length)
  let differing = 0
  for (const [i, { token, kind, id, balance, balanceOf, matches, decimals }] of expected.entries()) {
    const [name, , kindText, balanceText] = rows[i]
    assert.equal(kindText, { erc20: 'ERC-20', erc721: 'ERC-721', erc1155: 'ERC-1155' }[kind])
    if (id !== null) assert.ok(name.endsWith(`#${BigInt(id)}`), name)
    const unit = kind === 'erc20' ? (decimals ?? 0) : 0
    if (kind !== 'erc20' || decimals !== null) {
      assert.ok(balanceText.startsWith(shown(BigInt(balanceOf!), unit)), `${token}: ${balanceText}`)
    }
    if (matches === false) {
      differing++
      assert.ok(balanceText.includes(`by logs ${shown(BigInt(balance!), unit)}`), `${token}: ${balanceText}`)
    } else {
      assert.doesNotMatch(balanceText, /by logs/)
    }
  }
  assert.ok(differing > 0, 'the token with a fee has other balances than its logs')
  assert.ok(expected.some(({ id }) => id !== null))
  const saved = await savedRows(page)
  assert.deepEqual(
    saved.map(({ token, id }) => [token, id]),
    balances.map(({ token, id }) => [token, id === null ? '' : String(BigInt(id))]),
  )
})

test('each token has its page with facts and holders', { skip }, async (t) => {
  const { page, visit, untilTitle } = await openTab(t, url)
  for (const address of Object.values(chain.tokens)) {
    const token = await resultOf<Token>(url, 'cairn_getToken', [address])
    const { holders } = await resultOf<{ holders: HolderEntry[] }>(url, 'cairn_getTokenHolders', [address])
    await visit(`#/token/${address}?tab=holders`)
    await untilTitle(/^Token/)
    const rows = await rowsOf(page, 'Holders')
    assert.equal(rows.length, Math.min(50, holders.length), address)
    const facts = await page.locator('.facts > div').allInnerTexts()
    const block = Number(token.firstBlock).toLocaleString('en-US')
    assert.ok(
      facts.some((text) => text.startsWith('First transfer') && text.endsWith(`block ${block}`)),
      `${facts}`,
    )
    const [supply] = facts.filter((text) => text.startsWith('Supply'))
    if (token.totalSupply === null) assert.equal(supply, undefined, address)
    else {
      const amount = BigInt(supply.split('\n')[1].replace(/ .*$/s, '').replaceAll(/[,.]/g, ''))
      const unit = token.kind === 'erc20' ? (token.decimals ?? 0) : 0
      const fraction = formatUnits(BigInt(token.totalSupply), unit).split('.')[1] ?? ''
      assert.equal(amount * 10n ** BigInt(unit - fraction.length), BigInt(token.totalSupply), address)
    }
    if (token.kind !== 'erc20') continue
    // Shares in tenths of a percent, rounded down, may differ by one from the rounded text.
    for (const [i, { balance, balanceOf }] of holders.entries()) {
      const tenths = Number((BigInt(balanceOf ?? balance!) * 1000n) / BigInt(token.totalSupply!))
      const text = rows[i].at(-1)!
      if (text === '< 0.1 %') assert.equal(tenths, 0, address)
      else assert.ok(Math.abs(Number.parseFloat(text) * 10 - tenths) <= 1, `${address}: ${text}, ${tenths}`)
    }
  }
})

test('a token is read once for all its amounts, by cairn_getToken', { skip }, async (t) => {
  const { page, visit } = await openTab(t, url)
  const read: string[] = []
  page.on('request', (request) => {
    for (const each of [JSON.parse(request.postData() ?? '[]')].flat()) {
      if (each.method === 'cairn_getToken') read.push(each.params[0])
      assert.notEqual(each.method, 'eth_call', JSON.stringify(each))
    }
  })
  const [account] = chain.accounts
  await visit(`#/address/${account}?tab=transfers`)
  await page.getByRole('link', { name: 'PLN' }).first().waitFor()
  await page.getByRole('link', { name: 'Older →' }).click()
  await page.getByText('older ones').waitFor()
  await page.getByRole('link', { name: '← Newest' }).click()
  await page.getByText('newest first').waitFor()
  await page.getByRole('table', { name: 'Token transfers' }).locator('tbody th a').first().click()
  await page.getByText('Balance changes').first().waitFor()
  assert.ok(read.length > 3, `${read}`)
  assert.equal(new Set(read).size, read.length, `${read}`)
})

test('tokens are found by name and symbol', { skip }, async (t) => {
  const { page, visit, untilTitle } = await openTab(t, url)
  await visit('#/search?q=MKR')
  await untilTitle('Token Maker')
  const { tokens } = await resultOf<{ tokens: Token[] }>(url, 'cairn_findTokens', ['r'])
  assert.ok(tokens.length > 1, `${tokens.length}`)
  await visit('#/search?q=r')
  const rows = await rowsOf(page, 'Matches')
  assert.deepEqual(
    rows.filter(([what]) => what === 'Token').map(([, , address]) => address),
    tokens.map(({ address }) => address),
  )
  assert.deepEqual(await cutTables(page), [])
})

test('the link to a token that is none leads to the address, with a word', { skip }, async (t) => {
  const { page, visit, untilTitle } = await openTab(t, url)
  const [account] = chain.accounts
  await page.goto(`${url}/token/${account}`)
  await untilTitle('Address')
  await page.getByText('This address is no token').waitFor()
  await page.getByText('Nonce').waitFor()
  await visit(`#/address/${chain.tokens.nft}`)
  await page.locator('.facts').getByRole('link', { name: 'Things' }).click()
  await untilTitle('Token Things')
})

test('a cursor that is none of the server fails with a way back', { skip }, async (t) => {
  const { page, visit } = await openTab(t, url, { expectErrors: true })
  await visit(`#/token/${chain.tokens.plain}?cursor=${'A'.repeat(64)}`)
  await page.getByText('begin again without a cursor').waitFor()
  await page.getByRole('link', { name: '← Newest' }).click()
  await page.getByRole('table', { name: 'Token transfers' }).waitFor()
})

/** Each view of tokens with what it shows when it is ready. */
function views(): [name: string, fragment: string, text: string][] {
  const { plain, huge, dirty, reverting, fee, nft, multi } = chain.tokens
  const [ann, ben] = chain.accounts
  return [
    ['account-tokens', `#/address/${ben}?tab=tokens`, 'Plain Token'],
    ['account-transfers', `#/address/${ann}?tab=transfers`, 'PLN'],
    ['token', `#/token/${plain}`, 'newest first'],
    ['token-holders', `#/token/${plain}?tab=holders`, 'holders, after block'],
    ['token-fee-holders', `#/token/${fee}?tab=holders`, 'holders, after block'],
    ['token-huge', `#/token/${huge}`, 'newest first'],
    ['token-huge-holders', `#/token/${huge}?tab=holders`, 'holders, after block'],
    ['token-dirty', `#/token/${dirty}?tab=holders`, 'holders, after block'],
    ['token-reverting', `#/token/${reverting}`, 'newest first'],
    ['token-nft', `#/token/${nft}`, 'newest first'],
    ['token-nft-holders', `#/token/${nft}?tab=holders`, 'ids, after block'],
    ['token-multi', `#/token/${multi}`, 'newest first'],
    ['token-multi-holders', `#/token/${multi}?tab=holders`, 'balances, after block'],
    ['no-token', `#/token/${ann}`, 'This address is no token'],
    ['contract-of-token', `#/address/${plain}`, 'Nonce'],
  ]
}

// accessible.long.test.ts looks at the other pages in the first one, too.
for (const { colorScheme, width } of LOOKS.slice(THOROUGH ? 0 : 1)) {
  test(`axe finds no violation, and tables fit: ${colorScheme}, ${width} px`, { skip }, async (t) => {
    const { page, visit, shoot, overflow } = await openTab(t, url, { width, height: 844, colorScheme })
    for (const [name, fragment, text] of views()) {
      await visit(fragment)
      await page.getByText(text).filter({ visible: true }).first().waitFor()
      await page.waitForLoadState('networkidle')
      await shoot(`${name}-${colorScheme}-${width}`)
      assert.equal(await page.getByRole('alert').count(), 0, name)
      assert.deepEqual(await findViolations(page), [], name)
      assert.ok((await overflow()) <= 0, `${name} is wider than the window`)
      assert.deepEqual(await cutTables(page), [], name)
    }
  })
}
