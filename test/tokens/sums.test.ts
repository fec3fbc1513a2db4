import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TOKEN_KINDS } from '../../src/decoding/tokenTransfers.js'
import { deadlineAfter } from '../../src/lib/deadline.js'
import { withinBounds } from '../../src/rpc/cairn/tokenParts.js'
import { RpcError } from '../../src/rpc/core/errors.js'
import { AccountSums } from '../../src/tokens/accountTokens.js'
import { TooManyHoldings } from '../../src/tokens/errors.js'
import { HolderSums } from '../../src/tokens/holders.js'
import type { TransferOfToken } from '../../src/tokens/transferReader.js'
import { type SeededRandom, seededRandom } from '../support/random.js'

const NO_LIMIT = Number.POSITIVE_INFINITY
const account = (n: number) => new Uint8Array(20).fill(n)

/** A transfer between accounts 0 to 4, whether or not the sender has anything; account 0 is the zero address. */
function randomTransfer(random: SeededRandom, token = 200): TransferOfToken {
  const kind = TOKEN_KINDS[random.below(3)]
  const [from, to] = [account(random.below(5)), account(random.below(5))]
  const id = kind === 'erc20' ? undefined : BigInt(random.below(3))
  return { token: account(token), kind, from, to, id, value: kind === 'erc721' ? 1n : BigInt(random.below(4)) }
}

test('holders of transfers that need not add up', () => {
  const random = seededRandom(31)
  const seen = new Set<boolean>()
  for (let round = 0; round < 400; round++) {
    const transfers = Array.from({ length: random.below(12) }, () => randomTransfer(random))
    const sums = new HolderSums(NO_LIMIT)
    for (const transfer of transfers) sums.add(transfer)
    const { holdings, isComplete } = sums.list()
    // Every balance there may be, one at a time.
    let [isRight, count] = [true, 0]
    for (const kind of TOKEN_KINDS) {
      for (const id of kind === 'erc20' ? [undefined] : [0n, 1n, 2n]) {
        const own = transfers.filter((each) => each.kind === kind && each.id === id)
        let owner = 0
        for (const { from, to } of own) {
          if (kind === 'erc721' && from[0] !== owner) isRight = false
          owner = to[0]
        }
        for (const holder of [1, 2, 3, 4]) {
          const sum = own.reduce(
            (total, { from, to, value }) => total + (to[0] === holder ? value : 0n) - (from[0] === holder ? value : 0n),
            0n,
          )
          const balance = kind === 'erc721' ? BigInt(own.length > 0 && owner === holder) : sum
          if (balance < 0n) isRight = false
          const found = holdings.filter((each) => each.kind === kind && each.id === id && each.holder[0] === holder)
          assert.deepEqual(
            found.map((each) => each.balance),
            balance > 0n ? [balance] : [],
          )
          count += found.length
        }
      }
    }
    assert.equal(count, holdings.length)
    assert.equal(isComplete, isRight)
    seen.add(isComplete)
  }
  assert.equal(seen.size, 2)
})

test('balances of an account, below zero where the logs take more than they gave', () => {
  const random = seededRandom(32)
  let negative = 0
  for (let round = 0; round < 400; round++) {
    const all = Array.from({ length: random.below(15) }, () => randomTransfer(random, 200 + random.below(3)))
    const transfers = all.filter(({ from, to }) => from[0] === 1 || to[0] === 1)
    const sums = new AccountSums(account(1), NO_LIMIT)
    for (const transfer of transfers) sums.add(transfer)
    const keyOf = ({ token, kind, id }: Pick<TransferOfToken, 'token' | 'kind' | 'id'>) =>
      `${token[0]} ${TOKEN_KINDS.indexOf(kind)} ${kind === 'erc1155' ? id : ''}`
    const wanted = [...new Set(transfers.map(keyOf))].sort().map((key) => {
      const own = transfers.filter((each) => keyOf(each) === key)
      if (own[0].kind !== 'erc721') {
        const change = ({ from, to, value }: TransferOfToken) =>
          (to[0] === 1 ? value : 0n) - (from[0] === 1 ? value : 0n)
        return [key, own.reduce((total, each) => total + change(each), 0n)]
      }
      const last = new Map(own.map(({ id, to }) => [id, to[0]]))
      return [key, BigInt([...last.values()].filter((owner) => owner === 1).length)]
    })
    const found = sums.list().map((each) => [keyOf(each), each.balance])
    assert.deepEqual(found, wanted)
    negative += found.filter(([, balance]) => (balance as bigint) < 0n).length
  }
  assert.ok(negative > 0)
})

test('more balances than the limit are an error that names it', () => {
  const holders = new HolderSums(9)
  const tokens = new AccountSums(account(1), 9)
  const mint = (n: number, kind: 'erc20' | 'erc721' | 'erc1155'): TransferOfToken => {
    const to = account(kind === 'erc20' ? n : 1)
    return { token: account(200), kind, from: account(0), to, id: kind === 'erc20' ? undefined : BigInt(n), value: 1n }
  }
  for (const kind of TOKEN_KINDS) for (let n = 1; n <= 3; n++) holders.add(mint(n, kind))
  assert.throws(() => holders.add(mint(4, 'erc20')), new TooManyHoldings(9))
  for (let n = 1; n <= 4; n++) for (const kind of ['erc721', 'erc1155'] as const) tokens.add(mint(n, kind))
  assert.throws(() => tokens.add(mint(5, 'erc1155')), new TooManyHoldings(9))
  const messageOf = (work: () => void) => {
    try {
      withinBounds(work)
    } catch (error) {
      return error instanceof RpcError ? [error.code, error.message] : error
    }
    return undefined
  }
  const advice = 'use SQL without a time limit (cairn sql), or cairn export'
  assert.deepEqual(
    messageOf(() => holders.add(mint(4, 'erc20'))),
    [-32005, `more than 9 balances; ${advice}`],
  )
  assert.deepEqual(
    messageOf(() => deadlineAfter(-1_500).check()),
    [-32005, `the transfers were not added up within -1.5 s; ${advice}`],
  )
})
