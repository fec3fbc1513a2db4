import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countFrames, failurePath } from '../../src/web/callTree.js'
import type { CallFrame, DecodedLog } from '../../src/web/client/types.js'
import { tokenChanges, tokenTransfers } from '../../src/web/tokenTransfers.js'
import { seededRandom } from '../support/random.js'

const frame = (more: Partial<CallFrame>): CallFrame => ({
  type: 'CALL',
  from: '0x',
  gasUsed: '0x0',
  input: '0x',
  ...more,
})
const [ANN, BEN, TOKEN] = ['aa', 'bb', 'cc'].map((digits) => `0x${digits.repeat(20)}` as const)
const ZERO = `0x${'0'.repeat(40)}` as const

test('a failure is followed to the call that passed it on first', () => {
  const inner = frame({ error: 'execution reverted', output: '0x01' })
  const caught = frame({ error: 'execution reverted', output: '0x02' })
  const middle = frame({ error: 'execution reverted', output: '0x01', calls: [caught, inner, frame({})] })
  const root = frame({ error: 'execution reverted', output: '0x01', calls: [frame({}), middle] })
  assert.deepEqual(failurePath(root), [root, middle, inner])
  assert.equal(countFrames(root), 6)
})

test('a contract that reverts with data of its own failed by itself', () => {
  const root = frame({ error: 'execution reverted', output: '0x09', calls: [frame({ error: 'out of gas' })] })
  assert.deepEqual(failurePath(root), [root])
  assert.deepEqual(failurePath(frame({ calls: [frame({ error: 'out of gas' })] })), [])
})

type Args = readonly unknown[]

function logOf(signature: string, values: Args, topics = 3, address: string = TOKEN): DecodedLog {
  const args = values.map((value) => ({ name: '', type: '', value }))
  return { address, topics: Array(topics).fill('0x'), decoded: { name: '', signature, args } } as unknown as DecodedLog
}

const ERC_20 = 'Transfer(address,address,uint256)'

test('transfers of the three standards are read, ether transfers and guesses are not', () => {
  const batch = 'TransferBatch(address,address,address,uint256[],uint256[])'
  const guess = logOf(ERC_20, [ANN, BEN, '1'])
  const transfers = tokenTransfers([
    logOf(ERC_20, [ANN, BEN, '5']),
    logOf(ERC_20, [ANN, BEN, '7'], 4),
    logOf('TransferSingle(address,address,address,uint256,uint256)', [ANN, ANN, BEN, '3', '2']),
    logOf(batch, [ANN, ANN, BEN, ['1', '2'], ['10', '20']]),
    logOf(batch, [ANN, ANN, BEN, ['1', '2'], ['10']]),
    logOf(ERC_20, [ANN, BEN, '9'], 3, '0xfffffffffffffffffffffffffffffffffffffffe'),
    { ...guess, decoded: { ...guess.decoded!, isGuess: true } },
    { ...guess, decoded: null },
  ])
  assert.deepEqual(
    transfers.map(({ amount, id }) => [amount, id]),
    [
      [5n, undefined],
      [1n, 7n],
      [2n, 3n],
      [10n, 1n],
      [20n, 2n],
    ],
  )
})

test('gains and losses add up to what was minted and burnt, and agree with a ledger', () => {
  const random = seededRandom(11)
  const people = [ZERO, ANN, BEN, `0x${'dd'.repeat(20)}` as const]
  for (let round = 0; round < 50; round++) {
    const ledger = new Map(people.map((each) => [each as string, 0n]))
    const logs = Array.from({ length: random.below(20) }, () => {
      const [from, to, amount] = [people[random.below(4)], people[random.below(4)], BigInt(random.below(5))]
      ledger.set(from, ledger.get(from)! - amount)
      ledger.set(to, ledger.get(to)! + amount)
      return logOf(ERC_20, [from, to, String(amount)])
    })
    const changes = tokenChanges(tokenTransfers(logs))
    const expected = [...ledger].filter(([address, change]) => address !== ZERO && change !== 0n)
    assert.deepEqual(new Map(changes.map(({ address, change }) => [address, change])), new Map(expected))
  }
})
