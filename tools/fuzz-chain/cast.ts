import type { Fork } from '../../src/chain/eth/forks/rules.js'
import { createAddress } from '../../src/chain/eth/transaction.js'
import { formatData } from '../../src/lib/hex.js'
import type { SeededRandom } from '../../test/support/random.js'
import { createSender, type Sender } from '../fixture/chainBuilder.js'
import { SYSTEM_ACCOUNTS } from '../fixture/genesis.js'
import { FUZZED_FORKS } from '../fuzz-evm/generate.js'
import { createPrograms } from '../fuzz-evm/programs.js'
import { createCallTrees } from './callTrees.js'
import { CONTRACTS } from './contracts.js'

/** Everyone and everything that a chain has from its genesis on. */
export interface Cast {
  senders: Sender[]
  /** Sends creations only: its first ones collide with accounts of the genesis. */
  collider: Sender
  /** Keys that sign authorizations (EIP-7702); some send too. */
  authorities: Sender[]
  /** Contracts by name. */
  contracts: { [name: string]: Uint8Array }
  /** Addresses that code and transactions name. */
  known: Uint8Array[]
  alloc: { [address: string]: object }
}

const RANDOM_CONTRACTS = 10
const TREES = 6

/** An address of the generator with a number of its own. */
export function numberedAddress(number: number): Uint8Array {
  const address = new Uint8Array(20)
  address.set([0x10, number], 18)
  return address
}

/** The cast of a seed. Contracts are written for a fork each, so that some run into unknown instructions. */
export function randomCast(random: SeededRandom): Cast {
  const senders = Array.from({ length: 4 }, (_, i) => createSender(`random chain ${i}`))
  const authorities = [senders[0], ...[0, 1, 2].map((i) => createSender(`random authority ${i}`))]
  const collider = createSender('random collider')
  const contracts: Cast['contracts'] = {}
  const alloc: Cast['alloc'] = {}
  const put = (name: string, code: Uint8Array | undefined) => {
    const address = numberedAddress(0xa0 + Object.keys(contracts).length)
    contracts[name] = address
    if (code !== undefined) alloc[formatData(address)] = accountOf(random, code)
  }
  for (const [name, code] of Object.entries(CONTRACTS)) put(name, code)
  const first = Object.keys(contracts).length
  for (let i = 0; i < RANDOM_CONTRACTS + TREES; i++) put(`random${i}`, undefined)
  const absent = numberedAddress(0x01)
  const known = [...Object.values(contracts), ...[...senders, ...authorities].map(({ address }) => address), absent]
  for (const [i, address] of Object.values(contracts).slice(first).entries()) {
    const fork = FUZZED_FORKS[random.below(FUZZED_FORKS.length)]
    const options = { has: (other: Fork) => FUZZED_FORKS.indexOf(fork) >= FUZZED_FORKS.indexOf(other), known }
    const code = i < TREES ? createCallTrees(random, options).tree() : createPrograms(random, options).program()
    alloc[formatData(address)] = accountOf(random, code)
  }
  for (const { address } of [...senders, ...authorities, collider]) {
    alloc[formatData(address)] = { balance: '0xd3c21bcecceda1000000' } // 10^24 wei
  }
  putCollisions(alloc, [collider.address, contracts.creator, contracts.random0])
  for (let number = 1; number <= 9; number++) {
    if (random.below(2) === 0)
      alloc[formatData(precompile(number))] = { balance: random.below(2) === 0 ? '0x0' : '0x1' }
  }
  alloc[formatData(numberedAddress(0x02))] = { balance: '0x0' } // an empty account
  known.push(numberedAddress(0x02), precompile(3))
  return { senders, collider, authorities, contracts, known, alloc: { ...alloc, ...SYSTEM_ACCOUNTS } }
}

function accountOf(random: SeededRandom, code: Uint8Array): object {
  const storage = Object.fromEntries(
    Array.from({ length: random.below(4) }, (_, slot) => [word(slot), word(1 + random.below(255))]),
  )
  return { balance: `0x${random.below(100_000).toString(16)}`, nonce: '0x1', code: formatData(code), storage }
}

const word = (value: number) => `0x${value.toString(16).padStart(64, '0')}`

/** Address of a precompile. */
export function precompile(number: number): Uint8Array {
  const address = new Uint8Array(20)
  address[19] = number
  return address
}

/** Accounts where the creators' first creations go: with code, with a nonce, or with a balance alone. None has storage
 *  alone: geth 1.17 has no rule for that case (EIP-7610, docs/verification.md). */
function putCollisions(alloc: Cast['alloc'], creators: Uint8Array[]): void {
  const accounts = [{ balance: '0x0', code: '0x00' }, { balance: '0x5', nonce: '0x1' }, { balance: '0x9' }]
  for (const creator of creators) {
    const isContract = alloc[formatData(creator)] !== undefined && 'code' in alloc[formatData(creator)]
    for (const [i, account] of accounts.entries()) {
      alloc[formatData(createAddress(creator, BigInt(i + (isContract ? 1 : 0))))] = account
    }
  }
}
