import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { formatQuantity } from '../../src/lib/hex.js'
import { createQueryRunner, QueryFailed } from '../../src/sql/queryRunner.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import type { SqlValue } from '../../src/store/sql/runQuery.js'
import { serveFixture } from '../support/cairn.js'
import { importFixture } from '../support/chains/fixtureDatabase.js'
import { type SeededRandom, seededRandom } from '../support/random.js'
import { resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

const datadir = temporaryDirectory({ after })
const runner = createQueryRunner({ datadir })
after(runner.close)
before(() => importFixture(datadir))

async function rows(sql: string): Promise<(readonly SqlValue[])[]> {
  const found: (readonly SqlValue[])[] = []
  for await (const { values } of runner.run({ sql, format: 'values' })) found.push(...values)
  return found
}

const fails = (sql: string, message: string) =>
  assert.rejects(rows(sql), (error) => error instanceof QueryFailed && error.message === message)

function randomAmount(random: SeededRandom): bigint {
  const bytes = random.bytes(random.below(33))
  return bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n)
}

/** The amount as SQL has it: decimal or hex text, bytes, or an integer where it fits. */
function literal(amount: bigint, random: SeededRandom): string {
  const digits = amount.toString(16)
  const even = digits.padStart(digits.length + (digits.length % 2), '0')
  const forms = [`'${amount}'`, `'0x${digits}'`, `X'${even}'`]
  if (amount < 2n ** 63n) forms.push(`${amount}`)
  return forms[random.below(forms.length)]
}

test('u256_add, u256_sub, u256_compare and u256_sum are exact', async () => {
  const random = seededRandom(256)
  for (let round = 0; round < 20; round++) {
    const amounts = Array.from({ length: 30 }, () => randomAmount(random))
    const literals = amounts.map((amount) => literal(amount, random))
    const pairs = literals.slice(1).map((b, i) => {
      const a = literals[i]
      return `(u256_add(${a}, ${b}), u256_sub(${a}, ${b}), u256_compare(${a}, ${b}))`
    })
    const wanted = amounts.slice(1).map((b, i) => {
      const a = amounts[i]
      return [`${a + b}`, `${a - b}`, a < b ? -1n : a > b ? 1n : 0n]
    })
    assert.deepEqual(await rows(`VALUES ${pairs.join(',')}`), wanted)
    const table = `(SELECT column1 AS i, column2 AS a FROM (VALUES ${literals.map((a, i) => `(${i}, ${a})`).join(',')}))`
    const window = amounts.map((_, i) => [`${amounts.slice(Math.max(0, i - 3), i + 1).reduce((a, b) => a + b)}`])
    const moving = 'u256_sum(a) OVER (ORDER BY i ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)'
    assert.deepEqual(await rows(`SELECT ${moving} FROM ${table}`), window)
    assert.deepEqual(await rows(`SELECT u256_sum(a) FROM ${table}`), [[`${amounts.reduce((a, b) => a + b)}`]])
  }
  assert.deepEqual(await rows("SELECT u256_sum(a) FROM (SELECT NULL AS a UNION ALL SELECT '5')"), [['5']])
  assert.deepEqual(await rows('SELECT u256_sum(NULL), u256_add(1, NULL)'), [[null, null]])
  await fails('SELECT u256_add(1.5, 1)', 'u256_add: expected an integer, got 1.5')
  await fails("SELECT u256_sum('abc')", 'u256_sum: expected an integer, got abc')
  await fails(
    `SELECT u256_sub(1, '${'1'.repeat(201)}')`,
    'u256_sub: expected an integer of at most 200 characters, got 201',
  )
})

test('the sum of a token is exact where CAST is not', async () => {
  const [[sum]] = await rows('SELECT u256_sum(value) FROM v_erc20_transfers')
  const values = await rows('SELECT value FROM v_erc20_transfers')
  assert.equal(sum, `${values.reduce((total, [value]) => total + BigInt(value as string), 0n)}`)
})

test('keccak256 hashes text, hex text and bytes; checksum is that of EIP-55', async () => {
  const transfer = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
  assert.deepEqual(await rows("SELECT keccak256('Transfer(address,address,uint256)')"), [[transfer]])
  // The hash of no bytes.
  const empty = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
  assert.deepEqual(await rows("SELECT keccak256(''), keccak256('0x'), keccak256(X'')"), [[empty, empty, empty]])
  assert.deepEqual(await rows("SELECT keccak256('0x6162') = keccak256('ab'), keccak256(X'6162') = keccak256('ab')"), [
    [1n, 1n],
  ])
  // An example of EIP-55.
  const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
  assert.deepEqual(
    await rows(`SELECT checksum('${address.toLowerCase()}'), checksum(X'${address.slice(2)}'), checksum(NULL)`),
    [[address, address, null]],
  )
  await fails("SELECT checksum('0x12')", 'checksum: expected an address of 20 bytes, got 0x12')
  await fails('SELECT keccak256(7)', 'keccak256: expected text or bytes, got 7')
})

test('balance_at, nonce_at, code_at and storage_at are what JSON-RPC answers', async (t) => {
  const { url } = await serveFixture(t)
  const random = seededRandom(55)
  const addresses = (
    await rows('SELECT DISTINCT "from" FROM v_transactions UNION SELECT DISTINCT address FROM v_logs')
  ).flat()
  for (let i = 0; i < 40; i++) {
    const address = addresses[random.below(addresses.length)] as string
    const [block, slot] = [random.below(75), random.below(4)]
    const at = formatQuantity(block)
    const [balance, nonce, code, storage] = await Promise.all([
      resultOf<string>(url, 'eth_getBalance', [address, at]),
      resultOf<string>(url, 'eth_getTransactionCount', [address, at]),
      resultOf<string>(url, 'eth_getCode', [address, at]),
      resultOf<string>(url, 'eth_getStorageAt', [address, formatQuantity(slot), at]),
    ])
    const of = (name: string) => `${name}('${address}', ${block})`
    const values = `${of('balance_at')}, ${of('nonce_at')}, ${of('code_at')}, storage_at('${address}', ${slot}, ${block})`
    assert.deepEqual(await rows(`SELECT ${values}`), [[`${BigInt(balance)}`, `${BigInt(nonce)}`, code, storage]])
  }
  assert.deepEqual(await rows("SELECT balance_at(NULL, 1), storage_at('0x', NULL, 1)"), [[null, null]])
  const zero = `'0x${'00'.repeat(20)}'`
  await fails(`SELECT balance_at(${zero}, 75)`, 'balance_at: block 75 is not available')
  await fails(`SELECT nonce_at(${zero}, '1')`, 'nonce_at: expected a block number, got 1')
  await fails("SELECT code_at('0x00', 1)", 'code_at: expected an address of 20 bytes, got 0x00')
  await fails(
    `SELECT storage_at(${zero}, '0x${'11'.repeat(33)}', 1)`,
    `storage_at: expected a slot of at most 32 bytes, got 0x${'11'.repeat(33)}`,
  )
})

test('without state, its functions say that it is not available', async (t) => {
  const empty = temporaryDirectory(t)
  openForWriting(empty).close()
  const own = createQueryRunner({ datadir: empty })
  t.after(own.close)
  const read = async () => {
    for await (const _ of own.run({ sql: `SELECT balance_at('0x${'00'.repeat(20)}', 0)`, format: 'values' }));
  }
  await assert.rejects(read(), /balance_at: block 0 is not available/)
})

test('each event of the built-in interfaces has a view', async () => {
  const views = (
    await rows("SELECT name FROM pragma_table_list WHERE schema = 'temp' AND name LIKE 'v_event_%'")
  ).flat()
  for (const name of [
    'erc20_transfer',
    'erc721_transfer',
    'erc1155_transferbatch',
    'uniswap_v2_pair_swap',
    'weth_deposit',
  ]) {
    assert.ok(views.includes(`v_event_${name}`), name)
  }
  const columns = 'block_number, log_index, address, "from", "to", value'
  const wanted = await rows(`SELECT ${columns} FROM v_erc20_transfers ORDER BY 1, 2`)
  assert.ok(wanted.length > 10)
  assert.deepEqual(await rows(`SELECT ${columns} FROM v_event_erc20_transfer ORDER BY 1, 2`), wanted)
})
