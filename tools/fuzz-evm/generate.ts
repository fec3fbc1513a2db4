import { keccak256, signHash } from '../../src/chain/crypto.js'
import { delegationTo } from '../../src/chain/eth/delegation.js'
import { FORKS, type Fork } from '../../src/chain/eth/forks/rules.js'
import { encodeRlp } from '../../src/chain/eth/rlp.js'
import type { AccessListEntry, Authorization, Header, Transaction, TransactionType } from '../../src/chain/eth/types.js'
import type { NewAccount } from '../../src/evm/interpreter/journal/journalAccount.js'
import { bytesToBigInt, concatBytes } from '../../src/lib/bytes.js'
import { rulesOf } from '../../test/support/chains/forks.js'
import { type SeededRandom, seededRandom } from '../../test/support/random.js'
import { addressOfPrivateKey } from '../../test/support/signing.js'
import { createPrograms } from './programs.js'
import type { World } from './world.js'

/** Forks whose rules of execution differ from those before them, but Bogota, which @ethereumjs/evm does not know. */
export const FUZZED_FORKS: readonly Fork[] = FORKS.filter(
  (fork) => !['dao', 'muirGlacier', 'arrowGlacier', 'grayGlacier', 'bogota'].includes(fork) && !fork.startsWith('bpo'),
)

const SENDERS = 2
const CONTRACTS = 5
const GWEI = 1_000_000_000n

/** The world of a seed: the same every time. */
export function generateWorld(seed: number, fork: Fork): World {
  const random = seededRandom(seed)
  const has = (other: Fork) => FORKS.indexOf(fork) >= FORKS.indexOf(other)
  const keys = Array.from({ length: SENDERS + 1 }, (_, index) => keccak256(Uint8Array.of(index + 1)))
  const senders = keys.map(addressOfPrivateKey)
  const contracts = Array.from({ length: CONTRACTS }, (_, index) => addressOf(0xc0 + index))
  const untouched = addressOf(0xee)
  const empty = addressOf(0xe0)
  const known = [...contracts, ...senders, untouched, empty]
  const { program, initCode } = createPrograms(random, { has, known })

  const accounts: [Uint8Array, NewAccount][] = senders.map((address) => [
    address,
    { nonce: 0n, balance: 10n ** 24n, code: new Uint8Array(0), storage: [] },
  ])
  for (const address of contracts) {
    const storage = Array.from({ length: random.below(4) }, (_, slot) => ({
      slot: Uint8Array.of(slot),
      value: Uint8Array.of(1 + random.below(255)),
    }))
    accounts.push([
      address,
      { nonce: BigInt(random.below(3)), balance: BigInt(random.below(1000)), code: program(), storage },
    ])
  }
  if (random.below(2) === 0) accounts.push([empty, { nonce: 0n, balance: 0n, code: new Uint8Array(0), storage: [] }])
  // One of the senders delegates to a contract.
  if (has('prague') && random.below(2) === 0) accounts[1][1].code = delegationTo(contracts[random.below(CONTRACTS)])

  const nonces = new Map<Uint8Array, bigint>()
  const transactions = Array.from({ length: 1 + random.below(3) }, () => {
    const sender = senders[random.below(SENDERS)]
    const nonce = nonces.get(sender) ?? 0n
    nonces.set(sender, nonce + 1n)
    const creates = random.below(6) === 0
    const to = creates ? undefined : known[random.below(random.below(4) === 0 ? known.length : CONTRACTS)]
    const input = creates ? initCode() : random.bytes(random.below(100))
    return transactionOf(random, { has, from: sender, nonce, to, input, known, keys })
  })
  return { fork, header: headerOf(random, fork), accounts, transactions }
}

function addressOf(last: number): Uint8Array {
  const address = new Uint8Array(20)
  address[18] = 0x10
  address[19] = last
  return address
}

interface Parts {
  has(fork: Fork): boolean
  from: Uint8Array
  nonce: bigint
  to: Uint8Array | undefined
  input: Uint8Array
  known: Uint8Array[]
  keys: Uint8Array[]
}

function transactionOf(random: SeededRandom, { has, from, nonce, to, input, known, keys }: Parts): Transaction {
  const types: TransactionType[] = [0]
  if (has('berlin')) types.push(1)
  if (has('london')) types.push(2)
  if (has('cancun') && to) types.push(3)
  if (has('prague') && to) types.push(4, 4)
  const type = types[random.below(types.length)]
  let gasLimit = BigInt([60_000, 200_000, 500_000, 2_000_000, 30_000][random.below(5)] + random.below(20_000))
  // Some state gas is reserved; rarely, since the reference takes seconds for so much gas.
  if (has('amsterdam') && random.below(16) === 0) gasLimit = 2n ** 24n + BigInt(random.below(1_000_000))
  const transaction: Transaction = {
    type,
    hash: new Uint8Array(32),
    from,
    nonce,
    gasLimit,
    to,
    value: random.below(3) === 0 ? BigInt(random.below(1000)) : 0n,
    input,
    v: 0n,
    r: 1n,
    s: 1n,
  }
  if (type === 0 || type === 1) transaction.gasPrice = 10n * GWEI
  else {
    transaction.maxFeePerGas = 20n * GWEI
    transaction.maxPriorityFeePerGas = BigInt(random.below(3)) * GWEI
  }
  if (type > 0) {
    transaction.chainId = 1n
    transaction.accessList = accessListOf(random, known)
  }
  if (type === 3) {
    transaction.maxFeePerBlobGas = 100n * GWEI
    transaction.blobVersionedHashes = Array.from({ length: 1 + random.below(3) }, () => {
      const hash = random.bytes(32)
      hash[0] = 1
      return hash
    })
  }
  if (type === 4) transaction.authorizationList = authorizationsOf(random, known, keys)
  return transaction
}

function accessListOf(random: SeededRandom, known: Uint8Array[]): AccessListEntry[] {
  return Array.from({ length: random.below(3) }, () => ({
    address: known[random.below(known.length)],
    storageKeys: Array.from({ length: random.below(3) }, () => {
      const key = new Uint8Array(32)
      key[31] = random.below(5)
      return key
    }),
  }))
}

function authorizationsOf(random: SeededRandom, known: Uint8Array[], keys: Uint8Array[]): Authorization[] {
  return Array.from({ length: 1 + random.below(3) }, () => {
    const chainId = BigInt([0, 1, 1, 2][random.below(4)])
    const nonce = BigInt(random.below(3))
    const address = random.below(5) === 0 ? new Uint8Array(20) : known[random.below(known.length)]
    const hash = keccak256(concatBytes(Uint8Array.of(5), encodeRlp([chainId, address, nonce])))
    const { r, s, recoveryId } = signHash(hash, keys[random.below(keys.length)])
    const yParity = BigInt(random.below(10) === 0 ? 1 - recoveryId : recoveryId)
    return { chainId, address, nonce, yParity, r: bytesToBigInt(r), s: bytesToBigInt(s) }
  })
}

function headerOf(random: SeededRandom, fork: Fork): Header {
  const rules = rulesOf(fork)
  const zeros = (length: number) => new Uint8Array(length)
  return {
    parentHash: zeros(32),
    unclesHash: zeros(32),
    miner: addressOf(random.below(8) === 0 ? 0xc0 : 0xcb),
    stateRoot: zeros(32),
    transactionsRoot: zeros(32),
    receiptsRoot: zeros(32),
    logsBloom: zeros(256),
    difficulty: rules.isProofOfStake ? 0n : 0x20000n,
    number: 300 + random.below(10),
    gasLimit: 30_000_000n,
    gasUsed: 0n,
    timestamp: 1_700_000_000n,
    extraData: zeros(0),
    mixHash: rules.isProofOfStake ? random.bytes(32) : zeros(32),
    nonce: zeros(8),
    baseFeePerGas: rules.has('london') ? 7n * GWEI : undefined,
    excessBlobGas: rules.has('cancun') ? BigInt(random.below(20) * 1_000_000) : undefined,
    slotNumber: rules.has('amsterdam') ? BigInt(random.below(1000)) : undefined,
  }
}
