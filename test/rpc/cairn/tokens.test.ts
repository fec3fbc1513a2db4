import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { type Address, decodeAbiParameters, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { METHODS } from '../../../src/rpc/methods.js'
import { type CairnServer, startCairn } from '../../support/cairn.js'
import { importChainFolder } from '../../support/chains/chainFolder.js'
import { type TokenChain, writeTokenChain } from '../../support/chains/tokenChain.js'
import { endOfFile } from '../../support/endings.js'
import { ask, resultOf } from '../../support/rpcClient.js'
import { validatorOf } from '../../support/schemas.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { until } from '../../support/until.js'

/* Methods of tokens on a chain of its own, compared with what is made from eth_getLogs and eth_call. */

interface Transfer {
  blockNumber: Hex
  transactionHash: Hex
  logIndex: Hex
  batchIndex: Hex
  token: Address
  kind: 'erc20' | 'erc721' | 'erc1155'
  from: Address
  to: Address
  id: Hex | null
  value: Hex
}

interface Log {
  address: Address
  topics: Hex[]
  data: Hex
  blockNumber: Hex
  blockHash: Hex
  blockTimestamp: Hex
  transactionHash: Hex
  transactionIndex: Hex
  logIndex: Hex
}

const [TRANSFER, SINGLE, BATCH] = [
  '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
  '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb',
]
const ZERO: Address = `0x${'00'.repeat(20)}`
const ABI = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function ownerOf(uint256 id) view returns (address)',
])
const MULTI_ABI = parseAbi(['function balanceOf(address account, uint256 id) view returns (uint256)'])

const ending = endOfFile()
let chain: TokenChain
let server: CairnServer
let logs: Log[]
const hex = (value: number | bigint): Hex => `0x${value.toString(16)}`

before(async () => {
  chain = await writeTokenChain(ending)
  const datadir = temporaryDirectory(ending)
  await importChainFolder(datadir, chain.folder)
  server = await startCairn(ending, ['--datadir', datadir, '--open'])
  logs = await resultOf(server.url, 'eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }])
})

/** The result, valid by the schema of the method. */
async function result<T>(method: string, ...params: unknown[]): Promise<T> {
  const found = await resultOf<T>(server.url, method, params)
  assert.deepEqual(validatorOf(METHODS.get(method)!.result.schema)(found), [], method)
  return found
}

const addressOf = (topic: Hex): Address => `0x${topic.slice(26)}`

/** The transfers of all logs up to a block, decoded by viem, in chain order. */
function allTransfers(toBlock = chain.head): (Transfer & { [member: string]: unknown })[] {
  return logs.flatMap((log) => {
    const { address: token, topics, data, ...position } = log
    const { address: _, topics: __, data: ___, ...placed } = log
    if (Number(position.blockNumber) > toBlock) return []
    const { removed: _removed, ...place } = placed as typeof placed & { removed: boolean }
    const entry = (kind: Transfer['kind'], from: Hex, to: Hex, items: [id: bigint | null, value: bigint][]) =>
      items.map(([id, value], i) => ({
        ...place,
        batchIndex: hex(i),
        token,
        kind,
        from: addressOf(from),
        to: addressOf(to),
        id: id === null ? null : hex(id),
        value: hex(value),
      }))
    const [event, one, two, three] = topics
    if (event === TRANSFER && three === undefined) return entry('erc20', one, two, [[null, BigInt(data)]])
    if (event === TRANSFER) return entry('erc721', one, two, [[BigInt(three), 1n]])
    if (event === SINGLE) {
      const pair = decodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }], data)
      return entry('erc1155', two, three, [[pair[0], pair[1]]])
    }
    if (event !== BATCH || data === `0x${'ff'.repeat(96)}`) return []
    const [ids, values] = decodeAbiParameters([{ type: 'uint256[]' }, { type: 'uint256[]' }], data)
    return entry(
      'erc1155',
      two,
      three,
      ids.map((id, i) => [id, values[i]]),
    )
  })
}

/** All pages of cairn_getTokenTransfers. */
async function pagesOf(filter: object): Promise<Transfer[]> {
  const found: Transfer[] = []
  let cursor: string | null = null
  do {
    const page: { transfers: Transfer[]; cursor: string | null } = await result('cairn_getTokenTransfers', {
      ...filter,
      cursor,
    })
    found.push(...page.transfers)
    cursor = page.cursor
  } while (cursor !== null)
  return found
}

test('transfers by token, account, kinds and blocks, in pages of any size and both orders', async () => {
  const all = allTransfers()
  assert.ok(new Set(all.map(({ kind }) => kind)).size === 3 && all.some(({ batchIndex }) => batchIndex === '0x2'))
  const { accounts, tokens } = chain
  const filters: { token?: Address; account?: Address; kinds?: string[]; fromBlock?: Hex; toBlock?: Hex }[] = [
    {},
    { token: tokens.multi },
    { token: tokens.nft },
    { account: accounts[1] },
    { account: accounts[4] },
    { account: accounts[0], token: tokens.plain },
    { account: ZERO, kinds: ['erc721', 'erc1155'] },
    { kinds: ['erc20'] },
    { kinds: [] },
    { fromBlock: hex(14), toBlock: hex(17), kinds: ['erc1155'] },
    { token: `0x${'12'.repeat(20)}` },
  ]
  for (const filter of filters) {
    const wanted = all.filter(
      ({ token, from, to, kind, blockNumber }) =>
        (filter.token === undefined || token === filter.token) &&
        (filter.account === undefined || [from, to].includes(filter.account)) &&
        (filter.kinds === undefined || filter.kinds.includes(kind)) &&
        Number(blockNumber) >= Number(filter.fromBlock ?? 0) &&
        Number(blockNumber) <= Number(filter.toBlock ?? chain.head),
    )
    for (const limit of [4, 1_000]) {
      assert.deepEqual(await pagesOf({ ...filter, limit, order: 'oldest' }), wanted, JSON.stringify(filter))
      assert.deepEqual(await pagesOf({ ...filter, limit }), [...wanted].reverse(), JSON.stringify(filter))
    }
  }
})

test('a cursor of another query or an altered one is refused', async () => {
  const { cursor } = await result<{ cursor: string }>('cairn_getTokenTransfers', { limit: 1 })
  const fails = async (filter: object) => {
    const { error } = await ask(server.url, 'cairn_getTokenTransfers', [filter])
    assert.deepEqual(error, {
      code: -32602,
      message: 'invalid argument 0: cursor: was altered, or is of another query; begin again without a cursor',
    })
  }
  await fails({ limit: 1, cursor, order: 'oldest' })
  await fails({ limit: 1, cursor, token: chain.tokens.nft })
  await fails({ limit: 1, cursor: `${cursor.slice(0, -2)}AA` })
  await fails({ limit: 1, cursor: '' })
  // The limit may change from page to page.
  assert.equal((await result<{ transfers: [] }>('cairn_getTokenTransfers', { limit: 2, cursor })).transfers.length, 2)
})

interface Token {
  kind: string
  name: string | null
  symbol: string | null
  decimals: number | null
  totalSupply: Hex | null
  firstBlock: Hex | null
}

test('metadata of well-behaved and hostile contracts', async () => {
  const supply = hex(10n ** 24n)
  const { tokens } = chain
  const tokenOf = (name: keyof typeof tokens, ...rest: unknown[]) =>
    result<Token>('cairn_getToken', tokens[name], ...rest)
  const summaryOf = async (name: keyof typeof tokens) => {
    const { kind, name: own, symbol, decimals, totalSupply } = await tokenOf(name)
    return [kind, own, symbol, decimals, totalSupply]
  }
  assert.deepEqual(await summaryOf('plain'), ['erc20', 'Plain Token', 'PLN', 18, supply])
  assert.deepEqual(await summaryOf('bytes32'), ['erc20', 'Maker', 'MKR', 18, supply])
  assert.deepEqual(await summaryOf('reverting'), ['erc20', null, null, null, supply])
  const cut = (character: string) => `${character.repeat(256)}…`
  assert.deepEqual(await summaryOf('huge'), ['erc20', cut('x'), cut('y'), null, supply])
  assert.deepEqual(await summaryOf('dirty'), [
    'erc20',
    'Go\ufffd[31mld\ufffdgnp\ufffd\ufffd\ufffdA',
    null,
    null,
    supply,
  ])
  assert.deepEqual((await summaryOf('proxied')).slice(0, 4), ['erc20', 'Proxied', 'PRX', 6])
  const minted = allTransfers().filter(({ token, from }) => token === tokens.nft && from === ZERO).length
  assert.deepEqual(await summaryOf('nft'), ['erc721', 'Things', 'THING', null, hex(minted)])
  assert.deepEqual(await summaryOf('multi'), ['erc1155', null, null, null, null])
  for (const name of Object.keys(tokens) as (keyof typeof tokens)[]) {
    const [first] = allTransfers().filter(({ token }) => token === tokens[name])
    assert.equal((await tokenOf(name)).firstBlock, first.blockNumber, name)
  }
})

test('a token is null before it exists, and an account is none', async () => {
  assert.equal(await result('cairn_getToken', chain.tokens.plain, '0x0'), null)
  assert.equal(await result('cairn_getToken', chain.accounts[0]), null)
  const { error } = await ask(server.url, 'cairn_getToken', [chain.tokens.plain, hex(chain.head + 1)])
  assert.equal(error?.message, 'header not found')
})

interface Entry {
  token: Address
  holder: Address
  kind: string
  id: Hex | null
  balance: Hex | null
  balanceOf: Hex | null
  matches: boolean | null
}

/** The word that a call returns; null if it fails. */
async function callWord(to: Address, data: Hex, block: number): Promise<bigint | null> {
  const answer = await ask(server.url, 'eth_call', [{ to, data }, hex(block)])
  return answer.error === undefined ? BigInt(answer.result as Hex) : null
}

async function balanceOf(account: Address, { token, kind, id }: Pick<Entry, 'token' | 'kind' | 'id'>, block: number) {
  const data =
    kind === 'erc1155'
      ? encodeFunctionData({ abi: MULTI_ABI, args: [account, BigInt(id!)] })
      : encodeFunctionData({ abi: ABI, functionName: 'balanceOf', args: [account] })
  return callWord(token, data, block)
}

test('balances of an account, from logs and by balanceOf, at the head and before', async () => {
  for (const block of [chain.head, chain.head - 10]) {
    for (const account of chain.accounts) {
      const sums = new Map<string, bigint>()
      for (const { token, kind, from, to, id, value } of allTransfers(block)) {
        if (from !== account && to !== account) continue
        const key = JSON.stringify([token, kind, kind === 'erc1155' ? id : null])
        sums.set(
          key,
          (sums.get(key) ?? 0n) + (to === account ? BigInt(value) : 0n) - (from === account ? BigInt(value) : 0n),
        )
      }
      const { balances } = await result<{ balances: Entry[] }>('cairn_getTokenBalances', account, { block: hex(block) })
      const found = balances.map(({ token, kind, id, balance }) => [
        JSON.stringify([token, kind, id]),
        BigInt(balance!),
      ])
      assert.deepEqual(new Map(found as [string, bigint][]), sums)
      for (const entry of balances) {
        const answer = await balanceOf(account, entry, block)
        assert.equal(entry.balanceOf, answer === null ? null : hex(answer))
        assert.equal(entry.matches, answer === BigInt(entry.balance!))
      }
    }
  }
})

test('a fee on transfers is marked, other tokens match', async () => {
  const { balances } = await result<{ balances: Entry[] }>('cairn_getTokenBalances', chain.accounts[1])
  const { fee, proxied } = chain.tokens
  assert.ok(balances.length >= 8)
  // A name of a megabyte needs more gas than a call of a page has.
  const named = balances.filter((entry) => 'name' in entry && entry.name === null).map(({ token }) => token)
  assert.deepEqual(new Set(named), new Set([chain.tokens.huge, chain.tokens.reverting, chain.tokens.multi]))
  for (const { token, matches } of balances) assert.equal(matches, ![fee, proxied].includes(token), token)
})

test('balances come in pages, and of some tokens alone', async () => {
  const [account] = chain.accounts
  const all = await result<{ balances: Entry[] }>('cairn_getTokenBalances', account)
  const found: Entry[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: { balances: Entry[]; cursor: string | null } = await result('cairn_getTokenBalances', account, {
      limit: 2,
      cursor,
    })
    found.push(...page.balances)
    cursor = page.cursor
  }
  assert.deepEqual(found, all.balances)
  const tokens = [chain.tokens.multi, chain.tokens.plain, chain.tokens.plain]
  const some = await result<{ balances: Entry[] }>('cairn_getTokenBalances', account, { tokens })
  assert.deepEqual(
    some.balances,
    all.balances.filter(({ token }) => tokens.includes(token)),
  )
})

/** Holders from logs, in the order of the method. */
function holdersOf(token: Address, block: number): [id: Hex | null, holder: Address, balance: bigint][] {
  const balances = new Map<string, bigint>()
  for (const { token: own, from, to, id, value } of allTransfers(block)) {
    if (own !== token) continue
    for (const [holder, amount] of [
      [from, -BigInt(value)],
      [to, BigInt(value)],
    ] as const) {
      const key = `${id},${holder}`
      balances.set(key, (balances.get(key) ?? 0n) + amount)
    }
  }
  const entries = [...balances].map(([key, balance]): [Hex | null, Address, bigint] => {
    const [id, holder] = key.split(',') as [Hex | 'null', Address]
    return [id === 'null' ? null : id, holder, balance]
  })
  return entries
    .filter(([, holder, balance]) => holder !== ZERO && balance > 0n)
    .sort((a, b) => {
      if (a[0] !== b[0]) return BigInt(a[0]!) < BigInt(b[0]!) ? -1 : 1
      if (a[2] !== b[2]) return a[2] < b[2] ? 1 : -1
      return a[1] < b[1] ? -1 : 1
    })
}

test('holders of every token, at the head and before, in pages', async () => {
  const incomplete: string[] = []
  for (const [name, token] of Object.entries(chain.tokens)) {
    for (const block of [chain.head, chain.head - 12]) {
      const wanted = holdersOf(token, block)
      const found: Entry[] = []
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const options = { block: hex(block), limit: 3, cursor }
        const page = await result<{ holders: Entry[]; cursor: string | null; count: Hex; isComplete: boolean }>(
          'cairn_getTokenHolders',
          token,
          options,
        )
        assert.equal(Number(page.count), wanted.length)
        if (!page.isComplete) incomplete.push(name)
        found.push(...page.holders)
        cursor = page.cursor
      }
      assert.deepEqual(
        found.map(({ id, holder, balance }) => [id, holder, BigInt(balance!)]),
        wanted,
        name,
      )
      for (const entry of found) {
        const { holder, kind, id } = entry
        const owner = encodeFunctionData({ abi: ABI, functionName: 'ownerOf', args: [BigInt(id ?? 0)] })
        const answer =
          kind === 'erc721'
            ? BigInt((await callWord(token, owner, block)) === BigInt(holder))
            : await balanceOf(holder, { ...entry, token }, block)
        assert.equal(BigInt(entry.balanceOf!), answer)
        assert.equal(entry.matches, answer === BigInt(entry.balance!))
      }
    }
  }
  assert.deepEqual(incomplete, [])
})

test('bad options are refused by name', async () => {
  for (const [method, params, message] of [
    ['cairn_getTokenTransfers', [{ tokn: ZERO }], /unknown member "tokn" \(did you mean token\?\)/],
    ['cairn_getTokenTransfers', [{ kinds: ['erc404'] }], /filter.kinds\[0\]: expected one of erc20, erc721, erc1155/],
    ['cairn_getTokenTransfers', [{ fromBlock: '0x5', toBlock: '0x4' }], /invalid block range params/],
    ['cairn_getTokenBalances', [ZERO, { limit: 1_001 }], /options.limit: expected a whole number from 1 to 1000/],
    ['cairn_getTokenBalances', [ZERO, { tokens: Array(1_001).fill(ZERO) }], /options.tokens: expected at most 1000/],
    ['cairn_getTokenHolders', [], /missing value for required argument 0/],
  ] as const) {
    const { error } = await ask(server.url, method, params)
    assert.match(error?.message ?? '', message)
  }
})

test('with --state none logs alone answer, and what needs a call is null', async (t) => {
  const args = ['--genesis', join(chain.folder, 'genesis.json'), '--datadir', temporaryDirectory(t), '--open']
  const { url } = await startCairn(t, [...args, '--state', 'none', '--upstream', server.url])
  const atHead = async () => Number(await resultOf(url, 'eth_blockNumber')) === chain.head
  await until(atHead)
  const ofLogs = ({ balance, ...entry }: Entry) => ({ ...entry, balance, balanceOf: null, matches: null })
  for (const token of Object.values(chain.tokens)) {
    const wanted = await result<{ holders: Entry[] }>('cairn_getTokenHolders', token)
    const found = await resultOf<{ holders: Entry[] }>(url, 'cairn_getTokenHolders', [token])
    assert.deepEqual(found, { ...wanted, holders: wanted.holders.map(ofLogs) })
  }
  const [account] = chain.accounts
  const wanted = await result<{ balances: Entry[] }>('cairn_getTokenBalances', account)
  const none = { name: null, symbol: null, decimals: null }
  assert.deepEqual(await resultOf(url, 'cairn_getTokenBalances', [account]), {
    ...wanted,
    balances: wanted.balances.map((entry) => ({ ...ofLogs(entry), ...none })),
  })
  for (const token of Object.values(chain.tokens)) {
    const { kind, firstBlock } = await result<Token>('cairn_getToken', token)
    assert.deepEqual(await resultOf(url, 'cairn_getToken', [token]), {
      address: token,
      kind,
      ...none,
      totalSupply: null,
      firstBlock,
      blockNumber: hex(chain.head),
    })
  }
  assert.equal(await resultOf(url, 'cairn_getToken', [account]), null)
  assert.deepEqual(
    await resultOf(url, 'cairn_getTokenTransfers', [{ limit: 10_000 }]),
    await result('cairn_getTokenTransfers', { limit: 10_000 }),
  )
})

test('with sparse state a contract is asked with values of the upstream, and logs count from the first block', async (t) => {
  const from = 20
  const args = ['--genesis', join(chain.folder, 'genesis.json'), '--datadir', temporaryDirectory(t), '--open']
  const sparse = ['--state', 'sparse', '--from', String(from), '--upstream', server.url]
  const { url } = await startCairn(t, [...args, ...sparse])
  await until(async () => (await ask(url, 'eth_blockNumber')).result === hex(chain.head))
  for (const token of Object.values(chain.tokens)) {
    const wanted = await result<Token>('cairn_getToken', token)
    const later = allTransfers().filter((each) => each.token === token && Number(each.blockNumber) >= from)
    const firstBlock = later[0]?.blockNumber ?? null
    assert.deepEqual(await resultOf(url, 'cairn_getToken', [token]), { ...wanted, firstBlock })
    const page = await resultOf<{ holders: Entry[]; fromBlock: Hex }>(url, 'cairn_getTokenHolders', [token])
    assert.equal(page.fromBlock, hex(from))
    assert.ok(page.holders.every((holder) => later.some(({ to }) => to === holder.holder)))
  }
})
