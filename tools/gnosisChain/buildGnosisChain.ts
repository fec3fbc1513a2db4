import { nextBaseFee } from '../../src/chain/eth/fees.js'
import { type Rules, rulesAt } from '../../src/chain/eth/forks/rules.js'
import type { Withdrawal } from '../../src/chain/eth/types.js'
import { InvalidTransaction } from '../../src/evm/errors.js'
import { SYSTEM_ADDRESS } from '../../src/evm/transition/system.js'
import { formatData, parseHex } from '../../src/lib/hex.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { createStateReads } from '../../src/store/state/stateReader.js'
import { type SeededRandom, seededRandom } from '../../test/support/random.js'
import { type ChainBuilder, createChainBuilder, type TransactionPlan } from '../fixture/chainBuilder.js'
import { CHAIN_ID } from '../fixture/genesis.js'
import { type Cast, randomCast } from '../fuzz-chain/cast.js'
import { createTransactions } from '../fuzz-chain/transactions.js'
import {
  FEE_COLLECTOR,
  order,
  REWARD_CODE,
  REWARD_CONTRACT,
  WITHDRAWAL_CODE,
  WITHDRAWAL_CONTRACT,
} from './contracts.js'

/** Blocks of each fork: Shanghai, Cancun, Prague, Osaka. */
export const BLOCKS_PER_FORK = 8
const FORKS = ['shanghai', 'cancun', 'prague', 'osaka']
const SECONDS = 5
const GENESIS_TIME = 1_700_000_000
const MOST_TRANSACTIONS = 5

/** A contract that counts its calls, and one that reverts: 20 bytes each. */
const COUNTER = parseHex('0x00000000000000000000000000000000000c0de3')
const REVERTER = parseHex('0x00000000000000000000000000000000000c0de4')
/** Accounts that the chain adds rewards to. */
const BRIDGED = [1, 2, 3].map((number) => parseHex(`0x0000000000000000000000000000000000b41d0${number}`))
const REWARDED = [...BRIDGED, FEE_COLLECTOR, COUNTER]

/** Accounts whose balances the rules of the family change. */
export const WATCHED_ACCOUNTS = [...REWARDED, SYSTEM_ADDRESS, REWARD_CONTRACT, WITHDRAWAL_CONTRACT]

/** A development chain of Gnosis, with transactions of all types, rewards and withdrawals. */
export interface GnosisChain {
  readonly genesis: object
  readonly cast: Cast
  readonly builder: ChainBuilder
}

/** Builds the chain of a seed in a new database in `datadir`. It begins with proof of stake, and all forks come by
 *  time. */
export async function buildGnosisChain(
  t: { after(callback: () => void): void },
  datadir: string,
  seed: number,
): Promise<GnosisChain> {
  const random = seededRandom(seed)
  const cast = randomCast(random)
  const genesis = genesisOf(cast)
  const db = openForWriting(datadir)
  t.after(() => db.close())
  const builder = await createChainBuilder(db, genesis)
  const state = createStateReads(db)
  const nonceOf = (address: Uint8Array) => state.nonce(address, builder.chain.head.newest!.header.number)
  const { withdrawals } = createWithdrawals(random)
  for (let number = 1; number <= BLOCKS_PER_FORK * FORKS.length; number++) {
    const { header } = builder.chain.head.newest!
    const rules = rulesAt(builder.chain.spec, number, header.timestamp + BigInt(SECONDS), 0n)
    const parts = { cast, rules, baseFee: nextBaseFee(header), nonceOf }
    const transactions = [...randomTransactions(random, parts), ...ownTransactions(random, cast, number)]
    const miner = random.below(4) === 0 ? FEE_COLLECTOR : undefined
    const plan = { transactions, withdrawals: withdrawals(number), miner, afterSeconds: SECONDS }
    for (;;) {
      for (const { sender } of transactions) sender.nonce = nonceOf(sender.address)
      try {
        await builder.add(plan)
        break
      } catch (error) {
        if (!(error instanceof InvalidTransaction)) throw error
        transactions.splice(error.index, 1)
      }
    }
  }
  return { genesis, cast, builder }
}

function randomTransactions(
  random: SeededRandom,
  parts: { cast: Cast; rules: Rules; baseFee: bigint; nonceOf(address: Uint8Array): bigint },
): TransactionPlan[] {
  const make = createTransactions(random, parts)
  const plans: TransactionPlan[] = []
  let blobs = 0
  for (let i = random.below(MOST_TRANSACTIONS); i > 0; i--) {
    const plan = make()
    const more = plan.blobVersionedHashes?.length ?? 0
    if (blobs + more > 2) continue
    plans.push(plan.type === 3 ? { ...plan, maxFeePerBlobGas: 10n ** 11n } : plan)
    blobs += more
  }
  return plans
}

/** Rewards for the block, and transfers without value that touch empty accounts. */
function ownTransactions(random: SeededRandom, { senders }: Cast, number: number): TransactionPlan[] {
  const sender = () => senders[random.below(senders.length)]
  const orders = Array.from({ length: [0, 1, 1, 3][number % 4] }, () => ({
    sender: sender(),
    to: REWARD_CONTRACT,
    input: order(REWARDED[random.below(REWARDED.length)], BigInt([0, 1, 10 ** 15][random.below(3)])),
    gasLimit: 200_000n,
  }))
  const touched = number % 5 === 0 ? [SYSTEM_ADDRESS, BRIDGED[2]] : []
  return [...orders, ...touched.map((to) => ({ sender: sender(), to, gasLimit: 50_000n }))]
}

function createWithdrawals(random: SeededRandom) {
  let index = 0n
  const addresses = [...BRIDGED, COUNTER, REVERTER, WITHDRAWAL_CONTRACT]
  const withdrawals = (number: number): Withdrawal[] =>
    Array.from({ length: number % 3 === 0 ? 0 : random.below(8) }, () => ({
      index: index++,
      validatorIndex: BigInt(random.below(1000)),
      address: addresses[random.below(addresses.length)],
      amountGwei: BigInt([0, 1, random.below(32 * 10 ** 9)][random.below(3)]),
    }))
  return { withdrawals }
}

function genesisOf(cast: Cast): object {
  const ethereum = ['homestead', 'eip150', 'eip155', 'eip158', 'byzantium', 'constantinople', 'petersburg', 'istanbul']
  const times = FORKS.map((fork, i) => [
    `${fork}Time`,
    i === 0 ? 0 : GENESIS_TIME + SECONDS * (BLOCKS_PER_FORK * i + 1),
  ])
  const blobs = { target: 1, max: 2, baseFeeUpdateFraction: 1_112_826 }
  const contract = (code: Uint8Array) => ({ balance: '0x0', nonce: '0x1', code: formatData(code) })
  const own = new Map([
    [REWARD_CONTRACT, REWARD_CODE],
    [WITHDRAWAL_CONTRACT, WITHDRAWAL_CODE],
    [COUNTER, parseHex('0x5f546001015f5500')],
    [REVERTER, parseHex('0x5f5ffd')],
  ])
  return {
    config: {
      chainId: Number(CHAIN_ID),
      ...Object.fromEntries([...ethereum, 'berlin', 'london'].map((name) => [`${name}Block`, 0])),
      ...Object.fromEntries(times),
      terminalTotalDifficulty: 0,
      depositContractAddress: formatData(WITHDRAWAL_CONTRACT),
      blobSchedule: { cancun: blobs, prague: blobs, osaka: blobs },
      aura: {
        stepDuration: SECONDS,
        blockReward: 0,
        validators: { list: [formatData(BRIDGED[0])] },
        blockRewardContractAddress: formatData(REWARD_CONTRACT),
        withdrawalContractAddress: formatData(WITHDRAWAL_CONTRACT),
        eip1559FeeCollector: formatData(FEE_COLLECTOR),
      },
    },
    ...{ timestamp: `0x${GENESIS_TIME.toString(16)}`, gasLimit: '0x1c9c380', difficulty: '0x20000' },
    alloc: {
      ...cast.alloc,
      ...Object.fromEntries([...own].map(([address, code]) => [formatData(address), contract(code)])),
    },
  }
}
