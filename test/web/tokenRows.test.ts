import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TokenBalance } from '../../src/web/client/tokenTypes.js'
import { balanceRow, formatSupplyShare, isShownBalance, likelyBalance, transferRow } from '../../src/web/tokenRows.js'
import { seededRandom } from '../support/random.js'

const ADDRESS = `0x${'aa'.repeat(20)}` as const

const entry = (balance: bigint | null, balanceOf: bigint | null): TokenBalance => {
  const hex = (value: bigint | null) => (value === null ? null : (`0x${value.toString(16)}` as const))
  const matches = balanceOf === null ? null : balance === balanceOf
  return { kind: 'erc20', id: null, balance: hex(balance), balanceOf: hex(balanceOf), matches }
}

test('the balance of a contract comes before that of the logs', () => {
  for (const [balance, balanceOf, likely, isShown] of [
    [5n, 4n, 4n, true],
    [5n, null, 5n, true],
    [null, null, undefined, true],
    [null, 7n, 7n, true],
    [0n, 0n, 0n, false],
    [0n, null, 0n, false],
    // The logs and the contract disagree.
    [5n, 0n, 0n, true],
    [null, 0n, 0n, true],
  ] as const) {
    assert.equal(likelyBalance(entry(balance, balanceOf)), likely)
    assert.equal(isShownBalance(entry(balance, balanceOf)), isShown, `${balance}, ${balanceOf}`)
  }
})

test('shares of a supply are within a twentieth of a percent, also beyond 53 bits', () => {
  const random = seededRandom(7)
  for (let i = 0; i < 500; i++) {
    const supply = BigInt(1 + random.below(1_000_000)) * 10n ** BigInt(random.below(60))
    const balance = (supply * BigInt(random.below(10_001))) / 10_000n
    const text = formatSupplyShare(balance, supply)
    const thousandths = Number((balance * 100_000n) / supply)
    if (text === '< 0.1 %') assert.ok(balance > 0n && thousandths < 100, `${balance} of ${supply}`)
    else assert.ok(Math.abs(Number.parseFloat(text) * 1000 - thousandths) <= 51, `${balance} of ${supply}: ${text}`)
  }
  assert.equal(formatSupplyShare(0n, 1n), '0.0 %')
  assert.equal(formatSupplyShare(1n, 10n ** 30n), '< 0.1 %')
})

test('files have decimal numbers of any size', () => {
  const max = (1n << 256n) - 1n
  const transfer = transferRow({
    blockNumber: '0x10',
    blockTimestamp: '0x0',
    transactionHash: '0x12',
    logIndex: '0x2',
    batchIndex: '0x1',
    token: ADDRESS,
    kind: 'erc1155',
    from: ADDRESS,
    to: ADDRESS,
    id: `0x${max.toString(16)}`,
    value: '0xff',
  })
  assert.deepEqual(
    [transfer.block_number, transfer.time, transfer.id, transfer.value],
    [16, '1970-01-01 00:00:00 UTC', String(max), '255'],
  )
  const row = balanceRow({ ...entry(null, 3n), token: ADDRESS, name: null, symbol: null, decimals: null })
  assert.deepEqual([row.name, row.decimals, row.id, row.balance_by_logs, row.balance_of], ['', '', '', '', '3'])
})
