import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { transactionsRoot, unclesHash } from '../../../src/chain/eth/block.js'
import { bloomOf } from '../../../src/chain/eth/bloom.js'
import { nextDifficulty } from '../../../src/chain/eth/difficulty.js'
import { nextBaseFee, nextExcessBlobGas } from '../../../src/chain/eth/fees.js'
import { type ChainSpec, type Fork, type Rules, rulesAt } from '../../../src/chain/eth/forks/rules.js'
import { hashHeader } from '../../../src/chain/eth/header.js'
import { InvalidBlock } from '../../../src/chain/eth/invalidBlock.js'
import { receiptsRoot } from '../../../src/chain/eth/receipt.js'
import { SECP256K1_N, type UnsignedTransaction } from '../../../src/chain/eth/transaction.js'
import { EMPTY_TRIE_ROOT } from '../../../src/chain/eth/trie.js'
import type { Block, ConsensusReceipt, Header, Transaction, Withdrawal } from '../../../src/chain/eth/types.js'
import { verifyReceipts } from '../../../src/chain/eth/verifyRoots.js'
import { withdrawalsRoot } from '../../../src/chain/eth/withdrawals.js'
import { formatData } from '../../../src/lib/hex.js'
import { verifyBody } from '../../../src/sync/validate/body.js'
import { type Ancestors, type ParentBlock, verifyHeader, verifyUncles } from '../../../src/sync/validate/header.js'
import { seededRandom } from '../../support/random.js'
import { signTransaction } from '../../support/signing.js'

const random = seededRandom(21)
const BLOB = 131_072n
const KEY = random.bytes(32)

/** A chain on which the fork is in force from block 0 on. */
const specOf = (fork: Fork): ChainSpec => ({
  name: 'test',
  chainId: 1n,
  activations: [
    { fork: 'frontier', block: 0 },
    { fork, block: 0 },
  ],
  daoForkSupport: false,
  blobSchedules: {},
  ethash: true,
})
const rulesOf = (fork: Fork): Rules => rulesAt(specOf(fork), 1, 1n)

/** A header that is right after `parent` under the rules, but for the fields given. */
function childOf(parent: ParentBlock, rules: Rules, fields: Partial<Header> = {}): Header {
  const { header } = parent
  const number = header.number + 1
  const timestamp = fields.timestamp ?? header.timestamp + 12n
  return {
    parentHash: parent.hash,
    unclesHash: unclesHash([]),
    miner: new Uint8Array(20),
    stateRoot: new Uint8Array(32),
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(256),
    difficulty: rules.isProofOfStake ? 0n : nextDifficulty(header, number, timestamp, rules),
    number,
    gasLimit: header.gasLimit,
    gasUsed: 0n,
    timestamp,
    extraData: new Uint8Array(0),
    mixHash: new Uint8Array(32),
    nonce: new Uint8Array(8),
    baseFeePerGas: rules.has('london') ? nextBaseFee(header) : undefined,
    withdrawalsRoot: rules.has('shanghai') ? EMPTY_TRIE_ROOT : undefined,
    blobGasUsed: rules.has('cancun') ? 0n : undefined,
    excessBlobGas: rules.has('cancun') ? nextExcessBlobGas(header, rules) : undefined,
    parentBeaconBlockRoot: rules.has('cancun') ? new Uint8Array(32) : undefined,
    requestsHash: rules.has('prague') ? new Uint8Array(32) : undefined,
    blockAccessListHash: rules.has('amsterdam') ? new Uint8Array(32) : undefined,
    slotNumber: rules.has('amsterdam') ? 1n : undefined,
    ...fields,
  }
}

const withHash = (header: Header): ParentBlock => ({ hash: hashHeader(header), header })

/** A parent deep in a chain of the fork. */
function parentUnder(fork: Fork, fields: Partial<Header> = {}): ParentBlock {
  const first = {
    number: 99,
    timestamp: 1000n,
    difficulty: 10n ** 9n,
    gasLimit: 8_000_000n,
    unclesHash: unclesHash([]),
  }
  const later = { baseFeePerGas: 10n ** 9n, gasUsed: 0n, excessBlobGas: 20n * BLOB, blobGasUsed: 0n }
  const grandparent = { ...first, ...(rulesOf(fork).has('london') ? later : {}) } as Header
  return withHash(childOf({ hash: random.bytes(32), header: grandparent }, rulesOf(fork), fields))
}

/** The name of the check that refuses; undefined when none does. */
function checkOf(verify: () => void): string | undefined {
  try {
    verify()
    return undefined
  } catch (error) {
    assert.ok(error instanceof InvalidBlock, String(error))
    assert.ok(error.expected !== undefined && error.actual !== undefined, error.message)
    assert.ok(error.message.includes(error.check) && error.message.includes(error.actual), error.message)
    assert.match(error.message, /^block \d+ \(0x[0-9a-f]{64}\): /)
    return error.check
  }
}

const FORKS: Fork[] = [
  'frontier',
  'homestead',
  'byzantium',
  'istanbul',
  'london',
  'paris',
  'shanghai',
  'cancun',
  'prague',
  'osaka',
]

describe('verifyHeader', () => {
  const check = (fork: Fork, fields: Partial<Header>, parent = parentUnder(fork), spec = specOf(fork)) => {
    const header = childOf(parent, rulesOf(fork), fields)
    return checkOf(() => verifyHeader(header, hashHeader(header), parent, rulesOf(fork), spec))
  }

  for (const fork of FORKS) {
    it(`accepts what is right at ${fork}`, () => assert.equal(check(fork, {}), undefined))
  }

  it('says which time of a fork may be wrong when a block lacks its fields, or has them', () => {
    const shown = (fork: Fork, fields: Partial<Header>) => {
      const parent = parentUnder(fork)
      const header = childOf(parent, rulesOf(fork), fields)
      try {
        verifyHeader(header, hashHeader(header), parent, rulesOf(fork), specOf(fork))
      } catch (error) {
        return (error as Error).message
      }
    }
    const wrong = 'the time of amsterdam is wrong or missing: --fork amsterdam=TIME sets it'
    assert.ok(shown('osaka', { blockAccessListHash: new Uint8Array(32) })?.endsWith(wrong))
    assert.ok(shown('prague', { requestsHash: undefined })?.endsWith('--fork prague=TIME sets it'))
  })

  it('names the check and both values', () => {
    const parent = parentUnder('byzantium')
    const header = childOf(parent, rulesOf('byzantium'), { number: 102 })
    assert.throws(() => verifyHeader(header, hashHeader(header), parent, rulesOf('byzantium'), specOf('byzantium')), {
      name: 'InvalidBlock',
      message: `block 102 (${formatData(hashHeader(header))}): number: expected 101, the block has 102`,
    })
  })

  it('checks number, parent hash, timestamp and the length of the extra data', () => {
    assert.equal(check('paris', { number: 100 }), 'number')
    assert.equal(check('paris', { parentHash: new Uint8Array(32) }), 'parent hash')
    assert.equal(check('paris', { timestamp: 1012n }), 'timestamp')
    assert.equal(check('paris', { timestamp: 1013n }), undefined)
    assert.equal(check('paris', { extraData: new Uint8Array(32) }), undefined)
    assert.equal(check('paris', { extraData: new Uint8Array(33) }), 'extra data')
  })

  it('checks gas used and the bounds of the gas limit', () => {
    const bound = 8_000_000n / 1024n
    assert.equal(check('istanbul', { gasLimit: 8_000_000n + bound - 1n }), undefined)
    assert.equal(check('istanbul', { gasLimit: 8_000_000n + bound }), 'gas limit')
    assert.equal(check('istanbul', { gasLimit: 8_000_000n - bound + 1n }), undefined)
    assert.equal(check('istanbul', { gasLimit: 8_000_000n - bound }), 'gas limit')
    assert.equal(check('istanbul', { gasUsed: 8_000_000n }), undefined)
    assert.equal(check('istanbul', { gasUsed: 8_000_001n }), 'gas used')
    const least = parentUnder('istanbul', { gasLimit: 5000n })
    assert.equal(check('istanbul', { gasLimit: 5000n }, least), undefined)
    assert.equal(check('istanbul', { gasLimit: 4999n }, least), 'gas limit')
    const most = parentUnder('istanbul', { gasLimit: 2n ** 63n - 1n })
    assert.equal(check('istanbul', { gasLimit: 2n ** 63n }, most), 'gas limit')
  })

  it('doubles the gas limit and starts the base fee at the first block of London', () => {
    const parent = parentUnder('berlin')
    assert.equal(check('london', { gasLimit: 16_000_000n }, parent), undefined)
    assert.equal(check('london', { gasLimit: 8_000_000n }, parent), 'gas limit')
    assert.equal(check('london', { gasLimit: 16_000_000n, baseFeePerGas: 999_999_999n }, parent), 'base fee')
    assert.equal(check('london', { baseFeePerGas: 10n ** 9n }), 'base fee')
  })

  it('checks the difficulty, and that it is zero under proof of stake', () => {
    for (const fork of ['frontier', 'homestead', 'byzantium', 'london'] as const) {
      assert.equal(check(fork, { difficulty: 10n ** 9n + 1n }), 'difficulty', fork)
      assert.equal(check(fork, { difficulty: 0n }), 'difficulty', fork)
    }
    assert.equal(check('paris', { difficulty: 1n }), 'difficulty')
    assert.equal(check('paris', { nonce: Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 1) }), 'nonce')
    assert.equal(check('london', { nonce: Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 1) }), undefined)
    const unsealed = { ...specOf('london'), ethash: false }
    assert.equal(check('london', { difficulty: 2n }, undefined, unsealed), undefined)
  })

  it('turns to proof of stake after the block that reaches the terminal total difficulty', () => {
    const spec: ChainSpec = { ...specOf('london'), terminalTotalDifficulty: 1000n }
    const parent = parentUnder('london')
    const verdict = (difficulty: bigint, parentTotalDifficulty: bigint) => {
      const header = childOf(parent, rulesOf('london'), { difficulty })
      const rules = rulesAt(spec, header.number, header.timestamp, parentTotalDifficulty)
      return checkOf(() => verifyHeader(header, hashHeader(header), parent, rules, spec))
    }
    const work = childOf(parent, rulesOf('london')).difficulty
    assert.equal(verdict(work, 999n), undefined)
    assert.equal(verdict(0n, 999n), 'difficulty')
    assert.equal(verdict(0n, 1000n), undefined)
    assert.equal(verdict(work, 1000n), 'difficulty')
  })

  it('wants each field from its fork on and not before', () => {
    const fields: [keyof Header, Fork, Fork, unknown, string][] = [
      ['baseFeePerGas', 'berlin', 'london', 7n, 'base fee'],
      ['withdrawalsRoot', 'paris', 'shanghai', EMPTY_TRIE_ROOT, 'withdrawals root'],
      ['blobGasUsed', 'shanghai', 'cancun', 0n, 'blob gas used'],
      ['parentBeaconBlockRoot', 'shanghai', 'cancun', new Uint8Array(32), 'parent beacon block root'],
      ['requestsHash', 'cancun', 'prague', new Uint8Array(32), 'requests hash'],
      ['blockAccessListHash', 'osaka', 'amsterdam', new Uint8Array(32), 'block access list hash'],
      ['slotNumber', 'osaka', 'amsterdam', 1n, 'slot number'],
    ]
    for (const [field, before, from, value, name] of fields) {
      // What cannot even be encoded without the fields between is checked by the header alone.
      const verdict = (fork: Fork, change: Partial<Header>) => {
        const parent = parentUnder(fork)
        const header = { ...childOf(parent, rulesOf(fork)), ...change }
        return checkOf(() => verifyHeader(header, new Uint8Array(32), parent, rulesOf(fork), specOf(fork)))
      }
      assert.equal(verdict(before, { [field]: value }), name, `${field} at ${before}`)
      assert.equal(verdict(from, { [field]: undefined }), name, `${field} at ${from}`)
    }
  })

  it('checks blob gas and its excess', () => {
    assert.equal(check('cancun', { blobGasUsed: 6n * BLOB }), undefined)
    assert.equal(check('cancun', { blobGasUsed: 7n * BLOB }), 'blob gas used')
    assert.equal(check('cancun', { blobGasUsed: BLOB + 1n }), 'blob gas used')
    assert.equal(check('prague', { blobGasUsed: 9n * BLOB }), undefined)
    assert.equal(check('prague', { excessBlobGas: 0n }), 'excess blob gas')
  })

  it('wants the mark of the DAO fork on its ten blocks', () => {
    const mark = new TextEncoder().encode('dao-hard-fork')
    const at = (block: number, extraData: Uint8Array, daoForkSupport = true) => {
      const spec = { ...specOf('homestead'), daoForkSupport }
      spec.activations = [...spec.activations, { fork: 'dao', block }]
      return check('homestead', { extraData }, undefined, spec) // block 101
    }
    assert.equal(at(101, mark), undefined)
    assert.equal(at(101, new Uint8Array(0)), 'dao extra data')
    assert.equal(at(92, new Uint8Array(0)), 'dao extra data')
    assert.equal(at(91, new Uint8Array(0)), undefined)
    assert.equal(at(102, new Uint8Array(0)), undefined)
    assert.equal(at(101, new Uint8Array(0), false), undefined)
  })
})

const call: Omit<UnsignedTransaction, 'type'> = {
  chainId: 1n,
  nonce: 0n,
  gasLimit: 100_000n,
  to: random.bytes(20),
  value: 0n,
  input: new Uint8Array(0),
}
const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n, accessList: [] }
const blobHash = Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? 1 : 7))
const authorization = { chainId: 1n, address: new Uint8Array(20), nonce: 0n, yParity: 0n, r: 1n, s: 1n }

const legacy = (fields = {}) => signTransaction({ type: 0, gasPrice: 10n ** 10n, ...call, ...fields }, KEY)
const typed = (type: 1 | 2, fields = {}) =>
  signTransaction({ type, ...call, ...(type === 1 ? { gasPrice: 10n ** 10n, accessList: [] } : fees), ...fields }, KEY)
const blobs = (count: number, fields = {}) => {
  const blobVersionedHashes = new Array<Uint8Array>(count).fill(blobHash)
  return signTransaction(
    { type: 3, ...call, ...fees, maxFeePerBlobGas: 10n ** 10n, blobVersionedHashes, ...fields },
    KEY,
  )
}
const setCode = (authorizationList = [authorization]) =>
  signTransaction({ type: 4, ...call, ...fees, authorizationList }, KEY)

describe('verifyBody', () => {
  /** A block under the fork whose header fits its parts, but for the fields given. */
  function blockOf(
    fork: Fork,
    transactions: Transaction[],
    fields: Partial<Header> = {},
    parts: Partial<Block> = {},
  ): Block {
    const rules = rulesOf(fork)
    const withdrawals = rules.has('shanghai') ? [] : undefined
    const blobCount = transactions.reduce((sum, { blobVersionedHashes }) => sum + (blobVersionedHashes?.length ?? 0), 0)
    const header = childOf(parentUnder(fork), rules, {
      transactionsRoot: transactionsRoot(transactions),
      ...(rules.has('cancun') ? { blobGasUsed: BigInt(blobCount) * BLOB } : {}),
      ...fields,
    })
    return { hash: hashHeader(header), header, transactions, uncles: [], withdrawals, sizeBytes: 1000, ...parts }
  }
  const check = (fork: Fork, ...args: [Transaction[], Partial<Header>?, Partial<Block>?]) =>
    checkOf(() => verifyBody(blockOf(fork, ...args), rulesOf(fork), specOf(fork)))

  it('accepts bodies that fit their headers, of every type at its fork', () => {
    const since: [Fork, Transaction][] = [
      ['frontier', legacy({ chainId: undefined })],
      ['berlin', typed(1)],
      ['london', typed(2)],
      ['cancun', blobs(1)],
      ['prague', setCode()],
    ]
    for (const [index, [fork]] of since.entries()) {
      const known = since.slice(0, index + 1).map(([, transaction]) => transaction)
      assert.equal(check(fork, known), undefined, fork)
      if (index > 0) assert.equal(check(since[index - 1][0], known), `transaction ${index}: type`)
    }
  })

  it('compares every part with its root or hash in the header', () => {
    const uncle = parentUnder('istanbul').header
    const withdrawal: Withdrawal = { index: 1n, validatorIndex: 1n, address: new Uint8Array(20), amountGwei: 1n }
    const root = withdrawalsRoot([withdrawal])
    assert.equal(check('istanbul', [legacy()], { transactionsRoot: EMPTY_TRIE_ROOT }), 'transactions root')
    assert.equal(check('istanbul', [], {}, { uncles: [uncle] }), 'uncles hash')
    assert.equal(check('istanbul', [], { unclesHash: unclesHash([uncle]) }, { uncles: [uncle] }), undefined)
    assert.equal(check('shanghai', [], {}, { withdrawals: [withdrawal] }), 'withdrawals root')
    assert.equal(check('shanghai', [], { withdrawalsRoot: root }, { withdrawals: [withdrawal] }), undefined)
    assert.equal(check('shanghai', [], {}, { withdrawals: undefined }), 'withdrawals')
    assert.equal(check('paris', [], {}, { withdrawals: [] }), 'withdrawals')
  })

  it('refuses uncles under proof of stake', () => {
    const uncle = parentUnder('paris').header
    assert.equal(check('paris', [], { unclesHash: unclesHash([uncle]) }, { uncles: [uncle] }), 'uncles')
  })

  it('checks the chain id of a signature', () => {
    assert.equal(check('istanbul', [legacy({ chainId: 2n })]), 'transaction 0: chain id')
    assert.equal(check('london', [typed(2, { chainId: 2n })]), 'transaction 0: chain id')
    assert.equal(check('homestead', [legacy()]), 'transaction 0: chain id')
    assert.equal(check('istanbul', [legacy({ chainId: undefined })]), undefined)
  })

  it('refuses high s from Homestead on', () => {
    const { s, ...rest } = legacy({ chainId: undefined })
    const high = { ...rest, s: SECP256K1_N - s }
    assert.equal(check('frontier', [high]), undefined)
    assert.equal(check('homestead', [legacy({ chainId: undefined }), high]), 'transaction 1: signature')
  })

  it('counts blobs, by transaction and by block', () => {
    assert.equal(check('cancun', [blobs(6)]), undefined)
    assert.equal(check('cancun', [blobs(0)]), 'transaction 0: blobs')
    assert.equal(check('cancun', [blobs(7)]), 'transaction 0: blobs')
    assert.equal(check('prague', [blobs(9)]), undefined)
    assert.equal(check('osaka', [blobs(7)]), 'transaction 0: blobs')
    assert.equal(check('cancun', [blobs(2)], { blobGasUsed: BLOB }), 'blob gas used')
    const wrong = blobHash.with(0, 2)
    assert.equal(check('cancun', [blobs(1, { blobVersionedHashes: [wrong] })]), 'transaction 0: blob versioned hash')
  })

  it('checks what each fork limits', () => {
    const create = (size: number) => legacy({ to: undefined, input: new Uint8Array(size) })
    assert.equal(check('paris', [create(49_153)]), undefined)
    assert.equal(check('shanghai', [create(49_152)]), undefined)
    assert.equal(check('shanghai', [create(49_153)]), 'transaction 0: init code')
    assert.equal(check('prague', [legacy({ gasLimit: 2n ** 24n + 1n })]), undefined)
    assert.equal(check('osaka', [legacy({ gasLimit: 2n ** 24n })]), undefined)
    assert.equal(check('osaka', [legacy({ gasLimit: 2n ** 24n + 1n })]), 'transaction 0: gas limit')
    assert.equal(check('prague', [], {}, { sizeBytes: 8_388_609 }), undefined)
    assert.equal(check('osaka', [], {}, { sizeBytes: 8_388_608 }), undefined)
    assert.equal(check('osaka', [], {}, { sizeBytes: 8_388_609 }), 'block size')
    assert.equal(check('prague', [setCode([])]), 'transaction 0: authorization list')
    assert.equal(check('berlin', [legacy({ nonce: 2n ** 64n - 1n })]), 'transaction 0: nonce')
  })
})

describe('verifyUncles', () => {
  const rules = rulesOf('byzantium')
  const spec = specOf('byzantium')
  const chain: ParentBlock[] = [parentUnder('byzantium', { number: 0 })]
  for (let i = 1; i <= 10; i++) chain.push(withHash(childOf(chain[i - 1], rules)))
  /** A sibling of the block of that number. */
  const siblingOf = (number: number, fields: Partial<Header> = {}) =>
    childOf(chain[number - 1], rules, { miner: random.bytes(20), ...fields })

  /** The check that refuses a block 11 with these uncles, when `included` are uncles of block 10. */
  function check(uncles: Header[], included: Header[] = []): string | undefined {
    const header = childOf(chain[10], rules, { unclesHash: unclesHash(uncles) })
    const block: Block = { hash: hashHeader(header), header, transactions: [], uncles, sizeBytes: 0 }
    const ancestors: Ancestors = {
      header: (number) => chain[number],
      uncleHashes: (number) => (number === 10 ? included.map(hashHeader) : []),
    }
    return checkOf(() => verifyUncles(block, ancestors, () => rules, spec))
  }

  it('accepts siblings of the last six ancestors, two at most', () => {
    assert.equal(check([]), undefined)
    for (let number = 5; number <= 10; number++) assert.equal(check([siblingOf(number)]), undefined, `block ${number}`)
    assert.equal(check([siblingOf(10), siblingOf(10)]), undefined)
    assert.equal(check([siblingOf(10), siblingOf(9), siblingOf(8)]), 'uncles')
  })

  it('refuses an uncle that is too old, too young or of another chain', () => {
    assert.equal(check([siblingOf(4)]), 'uncle 0: parent hash')
    assert.equal(check([childOf(chain[10], rules, { miner: random.bytes(20) })]), 'uncle 0: parent hash')
    assert.equal(check([siblingOf(10), siblingOf(9, { parentHash: random.bytes(32) })]), 'uncle 1: parent hash')
  })

  it('refuses an ancestor, the same twice, and one that was included before', () => {
    const uncle = siblingOf(9)
    assert.equal(check([chain[10].header]), 'uncle 0')
    assert.equal(check([chain[5].header]), 'uncle 0')
    assert.equal(check([uncle, uncle]), 'uncle 1')
    assert.equal(check([uncle], [uncle]), 'uncle 0')
    assert.equal(check([uncle], [siblingOf(9)]), undefined)
  })

  it('checks an uncle as a header', () => {
    const parent = chain[8].header
    assert.equal(check([siblingOf(9, { number: 10 })]), 'uncle 0: number')
    assert.equal(check([siblingOf(9, { timestamp: parent.timestamp })]), 'uncle 0: timestamp')
    assert.equal(check([siblingOf(9, { difficulty: 1n })]), 'uncle 0: difficulty')
    assert.equal(check([siblingOf(9, { gasLimit: parent.gasLimit * 2n })]), 'uncle 0: gas limit')
    assert.equal(check([siblingOf(9, { gasUsed: parent.gasLimit + 1n })]), 'uncle 0: gas used')
    assert.equal(check([siblingOf(9, { extraData: new Uint8Array(33) })]), 'uncle 0: extra data')
  })

  it('accepts an uncle near the beginning of a chain', () => {
    const uncle = siblingOf(1)
    const header = childOf(chain[1], rules, { unclesHash: unclesHash([uncle]) })
    const block: Block = { hash: hashHeader(header), header, transactions: [], uncles: [uncle], sizeBytes: 0 }
    const ancestors: Ancestors = { header: (number) => chain[number], uncleHashes: () => [] }
    assert.equal(
      checkOf(() => verifyUncles(block, ancestors, () => rules, spec)),
      undefined,
    )
  })
})

describe('verifyReceipts', () => {
  const logs = [{ address: random.bytes(20), topics: [random.bytes(32)], data: random.bytes(3) }]
  const receipts: ConsensusReceipt[] = [
    { type: 0, status: 1, cumulativeGasUsed: 21_000n, logsBloom: bloomOf([]), logs: [] },
    { type: 2, status: 0, cumulativeGasUsed: 70_000n, logsBloom: bloomOf(logs), logs },
  ]
  const right = { gasUsed: 70_000n, logsBloom: bloomOf(logs), receiptsRoot: receiptsRoot(receipts) }
  const check = (fields: Partial<Header>, given = receipts) => {
    const header = childOf(parentUnder('london'), rulesOf('london'), { ...right, ...fields })
    return checkOf(() => verifyReceipts(header, given, { blockHash: hashHeader(header) }))
  }

  it('compares gas used, bloom and root with the header', () => {
    assert.equal(check({}), undefined)
    assert.equal(check({ gasUsed: 70_001n }), 'gas used')
    assert.equal(check({ logsBloom: new Uint8Array(256) }), 'logs bloom')
    assert.equal(check({ receiptsRoot: EMPTY_TRIE_ROOT }), 'receipts root')
    assert.equal(check({}, receipts.with(0, { ...receipts[0], status: 0 })), 'receipts root')
    assert.equal(check({ gasUsed: 0n, logsBloom: new Uint8Array(256), receiptsRoot: EMPTY_TRIE_ROOT }, []), undefined)
  })
})
