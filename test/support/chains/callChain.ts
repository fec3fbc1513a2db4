import { FORKS, type Fork } from '../../../src/chain/eth/forks/rules.js'
import type { Block } from '../../../src/chain/eth/types.js'
import { concatBytes } from '../../../src/lib/bytes.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import type { OpenChainOptions } from '../../../src/sync/chainState.js'
import { createChainBuilder, createSender, type TransactionPlan } from '../../../tools/fixture/chainBuilder.js'
import { SYSTEM_ACCOUNTS } from '../../../tools/fixture/genesis.js'
import type { SeededRandom } from '../random.js'
import { edgeProgram } from './edgePrograms.js'
import { createForkGenesis } from './forkGenesis.js'

/* Random chains whose transactions make many calls: of each other and of precompiles, with and without value, that fail
 * and revert, create contracts, and destroy them. */

const SENDERS = ['one', 'two', 'three'].map((name) => createSender(`calls ${name}`))
const CONTRACTS = 12
const addressOf = (index: number) => `c0${'00'.repeat(18)}${(index + 1).toString(16).padStart(2, '0')}`

const hexByte = (value: number) => value.toString(16).padStart(2, '0')
const push = (hex: string) => `${(0x5f + hex.length / 2).toString(16)}${hex}`
const pushNumber = (value: number) => push(value.toString(16).padStart(8, '0'))

/** A call of a random account with all gas but some, or with a little. */
function randomCall(random: SeededRandom): string {
  const opcode = [0xf1, 0xf1, 0xf1, 0xf2, 0xf4, 0xfa][random.below(6)]
  const kind = random.below(10)
  const to =
    kind < 6
      ? addressOf(random.below(CONTRACTS))
      : kind < 8
        ? (1 + random.below(9)).toString(16).padStart(40, '0')
        : formatData(random.bytes(20)).slice(2)
  const value = random.below(3) === 0 ? pushNumber(1 + random.below(1000)) : pushNumber(0)
  const hasValue = opcode === 0xf1 || opcode === 0xf2
  const gas = random.below(4) === 0 ? pushNumber(random.below(3000)) : pushNumber(20_000 + random.below(60_000))
  const ranges = `${pushNumber(random.below(40))}${pushNumber(0)}${pushNumber(random.below(70))}${pushNumber(0)}`
  return `${ranges}${hasValue ? value : ''}${push(to)}${gas}${hexByte(opcode)}50`
}

/** Init code that calls, and ends with code, without code, with a failure, or with its destruction. */
function randomInit(random: SeededRandom): string {
  const calls = random.below(3) === 0 ? randomCall(random) : ''
  const ends = [
    `${pushNumber(1 + random.below(60))}${pushNumber(0)}f3`,
    '6133ff6000526002601ef3', // code that destroys itself when it is called
    '00',
    '600060fd',
    'fe',
    `${push(addressOf(random.below(CONTRACTS)))}ff`,
    `${push('ef')}600053${pushNumber(1)}${pushNumber(0)}f3`,
  ]
  return `${calls}${ends[random.below(10) < 5 ? random.below(2) : random.below(ends.length)]}`
}

/** CREATE or CREATE2 of random init code, and half of the time a call of what was created. */
function randomCreation(random: SeededRandom): string {
  const init = parseHex(`0x${randomInit(random)}`)
  const padded = concatBytes(init, new Uint8Array((32 - (init.length % 32)) % 32))
  let out = ''
  for (let at = 0; at < padded.length; at += 32) {
    out += `7f${formatData(padded.subarray(at, at + 32)).slice(2)}${pushNumber(at)}52`
  }
  const value = pushNumber(random.below(2) * random.below(500))
  const isSalted = random.below(2) === 0
  const salt = isSalted ? pushNumber(random.below(40)) : ''
  out += `${salt}${pushNumber(init.length)}${pushNumber(0)}${value}${isSalted ? 'f5' : 'f0'}`
  const callIt = `6000600060006000600085${push('ffff')}f15050`
  return `${out}${random.below(2) === 0 ? callIt : '50'}`
}

/** A contract of some calls and creations. It ends with STOP, RETURN, REVERT, INVALID or SELFDESTRUCT. */
function randomContract(random: SeededRandom): string {
  let out = `${pushNumber(0)}54600101${pushNumber(0)}55`
  for (let left = 1 + random.below(4); left > 0; left--) {
    const kind = random.below(8)
    out += kind < 5 ? randomCall(random) : kind < 7 ? randomCreation(random) : edgeProgram(random)
  }
  const beneficiary = random.below(3) === 0 ? '30' : push(addressOf(random.below(CONTRACTS)))
  const ends = ['00', '00', '602060006000f3', '60206000fd', 'fe', `${beneficiary}ff`]
  return out + ends[random.below(ends.length)]
}

function createGenesis(random: SeededRandom, fork: Fork): object {
  const contracts = Array.from({ length: CONTRACTS }, (_, i) => [
    `0x${addressOf(i)}`,
    { balance: '0xde0b6b3a7640000', code: `0x${randomContract(random)}` },
  ])
  const funded = { balance: '0xd3c21bcecceda1000000' }
  return createForkGenesis(fork, {
    ...(isSince('prague', fork) ? SYSTEM_ACCOUNTS : {}),
    ...Object.fromEntries(SENDERS.map(({ address }) => [formatData(address), funded])),
    ...Object.fromEntries(contracts),
  })
}

function isSince(first: Fork, fork: Fork): boolean {
  return FORKS.indexOf(first) <= FORKS.indexOf(fork)
}

/** A chain, as `makeCallChain` makes it. */
export interface CallChain {
  readonly genesis: object
  readonly blocks: Block[]
}

/** Makes a random chain of `count` blocks under the rules of a fork in the database of an empty directory, opened with
 *  `options`. */
export async function makeCallChain(
  datadir: string,
  {
    random,
    fork,
    count,
    maxTransactions = 4,
  }: { random: SeededRandom; fork: Fork; count: number; maxTransactions?: number },
  options?: OpenChainOptions,
): Promise<CallChain> {
  const genesis = createGenesis(random, fork)
  const db = openForWriting(datadir)
  const builder = await createChainBuilder(db, genesis, options)
  for (const sender of SENDERS) sender.nonce = 0n
  for (let i = 0; i < count; i++) {
    const transactions = Array.from({ length: random.below(maxTransactions + 1) }, () =>
      randomTransaction(random, fork),
    )
    await builder.add({ transactions, extraData: random.bytes(8) })
  }
  db.close()
  return { genesis, blocks: builder.blocks }
}

function randomTransaction(random: SeededRandom, fork: Fork): TransactionPlan {
  const common = {
    sender: SENDERS[random.below(SENDERS.length)],
    type: isSince('london', fork) ? (2 as const) : (0 as const),
    gasLimit: BigInt(100_000 + random.below(2_000_000)),
    value: BigInt(random.below(3) === 0 ? 0 : random.below(10_000)),
    ...(isSince('spuriousDragon', fork) ? {} : { legacyWithoutChainId: true }),
  }
  const kind = random.below(10)
  if (kind === 0) return { ...common, to: random.bytes(20) }
  if (kind === 1) return { ...common, to: parseHex(`0x${'00'.repeat(19)}04`), input: random.bytes(random.below(9)) }
  if (kind < 4) return { ...common, input: parseHex(`0x${randomInit(random)}`) }
  const to = parseHex(`0x${addressOf(random.below(CONTRACTS))}`)
  return { ...common, to, input: random.bytes(random.below(3) * random.below(40)) }
}
