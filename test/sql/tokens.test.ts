import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { createQueryRunner, QueryFailed, type QueryRunner } from '../../src/sql/queryRunner.js'
import type { SqlValue } from '../../src/store/sql/runQuery.js'
import { type CairnServer, startCairn } from '../support/cairn.js'
import { importChainFolder } from '../support/chains/chainFolder.js'
import { type TokenChain, writeTokenChain } from '../support/chains/tokenChain.js'
import { endOfFile } from '../support/endings.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'
import { until } from '../support/until.js'

/* Tokens in SQL, compared with the answers of the methods, which test/rpc/cairn/tokens.test.ts compares with logs and
 * calls. */

interface Transfer {
  blockNumber: string
  blockTimestamp: string
  transactionIndex: string
  transactionHash: string
  logIndex: string
  batchIndex: string
  token: string
  kind: string
  from: string
  to: string
  id: string | null
  value: string
}

const ending = endOfFile()
let chain: TokenChain
let server: CairnServer
let runner: QueryRunner

before(async () => {
  chain = await writeTokenChain(ending, 3)
  const datadir = temporaryDirectory(ending)
  await importChainFolder(datadir, chain.folder)
  server = await startCairn(ending, ['--datadir', datadir, '--open'])
  runner = createQueryRunner({ datadir, memoryBytes: 2 ** 30 })
  ending.after(runner.close)
})

async function rowsOf(sql: string, { run }: Pick<QueryRunner, 'run'> = runner): Promise<(readonly SqlValue[])[]> {
  const rows: (readonly SqlValue[])[] = []
  for await (const { values } of run({ sql, format: 'values' })) rows.push(...values)
  return rows
}

const decimal = (quantity: string | null) => (quantity === null ? null : `${BigInt(quantity)}`)

/** The rows that the view and the table have for transfers of the method. */
async function transferRows(filter: object): Promise<unknown[][]> {
  const options = { ...filter, order: 'oldest', limit: 10_000 }
  const { transfers } = await resultOf<{ transfers: Transfer[] }>(server.url, 'cairn_getTokenTransfers', [options])
  return transfers.map((each) => [
    ...[BigInt(each.blockNumber), BigInt(each.blockTimestamp), BigInt(each.transactionIndex), each.transactionHash],
    ...[BigInt(each.logIndex), BigInt(each.batchIndex), each.token, each.kind, each.from, each.to],
    ...[decimal(each.id), decimal(each.value)],
  ])
}

test('v_token_transfers has a row per transfer, in chain order', async () => {
  const wanted = await transferRows({})
  assert.ok(wanted.length > 50)
  assert.deepEqual(await rowsOf('SELECT * FROM v_token_transfers'), wanted)
  const some = wanted.filter(([block]) => (block as bigint) >= 14n && (block as bigint) <= 20n)
  assert.deepEqual(await rowsOf('SELECT * FROM v_token_transfers WHERE block_number BETWEEN 14 AND 20'), some)
})

test('a range of blocks in v_token_transfers uses the primary key', async () => {
  const plan = await rowsOf('EXPLAIN QUERY PLAN SELECT * FROM v_token_transfers WHERE block_number BETWEEN 14 AND 20')
  assert.match(plan.map((row) => row.at(-1)).join('\n'), /SEARCH b USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)/)
})

test('token_transfers by token, account and blocks', async () => {
  const { multi, plain } = chain.tokens
  const account = chain.accounts[1]
  const blocks = { fromBlock: '0xe', toBlock: '0x12' }
  for (const [args, filter] of [
    [[], {}],
    [[`'${multi}'`], { token: multi }],
    [["''", `'${account}'`], { account }],
    [[`'${plain}'`, `'${account}'`], { token: plain, account }],
    [["''", `'${account}'`, 14, 18], { account, ...blocks }],
    [["''", "''", 14, 18], blocks],
    [["''", "''", 20, 10], { kinds: [] }],
    [['NULL'], { kinds: [] }],
  ] as const) {
    assert.deepEqual(await rowsOf(`SELECT * FROM token_transfers(${args.join(', ')})`), await transferRows(filter))
  }
  const named = `SELECT * FROM token_transfers WHERE of_account = '${account}' AND of_token = '${plain}' AND value <> '0'`
  const wanted = await transferRows({ token: plain, account })
  assert.deepEqual(
    await rowsOf(named),
    wanted.filter((row) => row.at(-1) !== '0'),
  )
})

test('token_holders has the balances of the method, at the head and before', async () => {
  for (const token of Object.values(chain.tokens)) {
    for (const block of [undefined, chain.head - 8]) {
      const options = { limit: 10_000, ...(block && { block: `0x${block.toString(16)}` }) }
      const { holders } = await resultOf<{
        holders: { holder: string; kind: string; id: string | null; balance: string }[]
      }>(server.url, 'cairn_getTokenHolders', [token, options])
      assert.ok(holders.length > 0)
      const wanted = holders.map(({ holder, kind, id, balance }) => [holder, kind, decimal(id), decimal(balance)])
      const args = block === undefined ? `'${token}'` : `'${token}', ${block}`
      assert.deepEqual(await rowsOf(`SELECT * FROM token_holders(${args})`), wanted)
    }
  }
})

test('token_balances has the balances of the method, at the head and before', async () => {
  for (const account of chain.accounts) {
    for (const block of [chain.head, chain.head - 8]) {
      const options = { limit: 1_000, block: `0x${block.toString(16)}` }
      const { balances } = await resultOf<{
        balances: { token: string; kind: string; id: string | null; balance: string }[]
      }>(server.url, 'cairn_getTokenBalances', [account, options])
      assert.ok(balances.length > 3)
      const wanted = balances.map(({ token, kind, id, balance }) => [token, kind, decimal(id), decimal(balance)])
      assert.deepEqual(await rowsOf(`SELECT * FROM token_balances('${account}', ${block})`), wanted)
    }
  }
})

test('v_tokens has what the contracts say, and how many transfers they logged', async () => {
  const rows = await rowsOf(`SELECT address, kind, first_block, transfer_count, name, symbol, decimals, total_supply
    FROM v_tokens ORDER BY address`)
  assert.deepEqual(
    rows.map(([address]) => address),
    Object.values(chain.tokens).sort(),
  )
  for (const [address, kind, first, count, ...rest] of rows) {
    const token = await resultOf<Record<string, string | number | null>>(server.url, 'cairn_getToken', [address])
    assert.deepEqual([kind, Number(first)], [token.kind, Number(token.firstBlock)])
    assert.equal(Number(count), (await transferRows({ token: address })).length)
    const decimals = token.decimals === null ? null : BigInt(token.decimals)
    // A name of a megabyte needs more gas than a call of many has.
    const [name, symbol] = address === chain.tokens.huge ? [null, null] : [token.name, token.symbol]
    assert.deepEqual(rest, [name, symbol, decimals, decimal(token.totalSupply as string | null)])
  }
})

test('functions of a token at a block', async () => {
  const { plain } = chain.tokens
  const names = `token_name('${plain}'), token_symbol('${plain}', 1), token_decimals('${plain}'), token_supply('${plain}', 0)`
  assert.deepEqual(await rowsOf(`SELECT ${names}, token_name(NULL), token_name('${plain}', NULL)`), [
    ['Plain Token', 'PLN', 18n, null, null, null],
  ])
})

test('arguments that are none are errors that name the function', async () => {
  for (const [sql, message] of [
    ["SELECT token_name('0x12')", /^token_name: expected an address of 20 bytes, got 0x12$/],
    ['SELECT token_name()', /^token_name: expected an address of 20 bytes, got undefined$/],
    [`SELECT token_symbol('${chain.tokens.nft}', 'x')`, /^token_symbol: expected a block number, got x$/],
    [`SELECT token_symbol('${chain.tokens.nft}', 1000)`, /^block 1000 is not available$/],
    ['SELECT * FROM token_holders', /^token_holders: expected the address of the token, as in token_holders\('0x…'\)$/],
    [
      'SELECT * FROM token_balances',
      /^token_balances: expected the address of the account, as in token_balances\('0x…'\)$/,
    ],
    ["SELECT * FROM token_transfers('bob')", /^token_transfers: expected an address of 20 bytes, got bob$/],
    ["SELECT * FROM token_transfers('', '', -1)", /^token_transfers: expected a block number, got -1$/],
  ] as const) {
    await assert.rejects(rowsOf(sql), (error) => error instanceof QueryFailed && message.test(error.message), sql)
  }
})

test('without state the logs alone answer', async (t) => {
  const datadir = temporaryDirectory(t)
  const args = ['--genesis', join(chain.folder, 'genesis.json'), '--datadir', datadir, '--open', '--state', 'none']
  const { url } = await startCairn(t, [...args, '--upstream', server.url])
  await until(async () => Number(await resultOf(url, 'eth_blockNumber')) === chain.head)
  const bare = createQueryRunner({ datadir, memoryBytes: 2 ** 30 })
  t.after(bare.close)
  const columns = 'address, kind, first_block, transfer_count'
  assert.deepEqual(
    await rowsOf(`SELECT ${columns}, name, symbol, decimals, total_supply FROM v_tokens`, bare),
    (await rowsOf(`SELECT ${columns} FROM v_tokens`)).map((row) => [...row, null, null, null, null]),
  )
  const holders = `SELECT * FROM token_holders('${chain.tokens.multi}')`
  assert.deepEqual(await rowsOf(holders, bare), await rowsOf(holders))
})
