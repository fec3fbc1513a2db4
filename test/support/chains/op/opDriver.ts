import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keccak256 } from '../../../../src/chain/crypto.js'
import { DEPOSIT_TYPE } from '../../../../src/chain/eth/families/op/deposit.js'
import { CONSOLIDATION_REQUESTS, WITHDRAWAL_REQUESTS } from '../../../../src/chain/eth/forks/prague.js'
import { rulesAt } from '../../../../src/chain/eth/forks/rules.js'
import { parseGenesisSpec } from '../../../../src/chain/eth/genesis.js'
import { encodeTransaction } from '../../../../src/chain/eth/transaction.js'
import type { Transaction } from '../../../../src/chain/eth/types.js'
import { bigIntToFixedBytes, concatBytes } from '../../../../src/lib/bytes.js'
import { formatData, formatQuantity, parseHex } from '../../../../src/lib/hex.js'
import type { TransactionPlan } from '../../../../tools/fixture/chainBuilder.js'
import { CHAIN_ID } from '../../../../tools/fixture/genesis.js'
import { type Cast, randomCast } from '../../../../tools/fuzz-chain/cast.js'
import { createTransactions } from '../../../../tools/fuzz-chain/transactions.js'
import { callEngine } from '../../engine/engineClient.js'
import { type EngineNode, startGethEngine } from '../../engine/engineServers.js'
import type { SeededRandom } from '../../random.js'
import { resultOf } from '../../rpcClient.js'
import { signTransaction } from '../../signing.js'
import { temporaryDirectory } from '../../temporary.js'
import { readExecutedOpChain } from './opChain.js'

type After = { after(callback: () => void | Promise<void>): void }

const GENESIS_TIME = 1_700_000_000
const SECONDS = 2
/** The first block of Jovian. */
export const JOVIAN_BLOCK = 7
const MOST_TRANSACTIONS = 5

const L1_BLOCK = parseHex('0x4200000000000000000000000000000000000015')
const SEQUENCER_FEE_VAULT = '0x4200000000000000000000000000000000000011'
const MESSAGE_PASSER = '0x4200000000000000000000000000000000000016'
/** op-geth leaves the withdrawals root out of payloads where L2ToL1MessagePasser has no slot. */
const PASSED = { [`0x${'0'.repeat(63)}5`]: `0x${'0'.repeat(63)}1` }
const DEPOSITOR = parseHex('0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001')

/** A chain of op-geth that the test extends through the Engine API, as op-node would. */
export interface OpDriver extends EngineNode {
  /** A file with the genesis, and its content. */
  readonly genesisFile: string
  readonly genesis: object
  readonly cast: Cast
  /** Number of the newest block. */
  readonly head: number
  /** Builds blocks with deposits and random transactions, each the head in turn. */
  extend(count: number): Promise<void>
  /** Makes the ancestor `depth` blocks back the head: those that are added next are others. */
  rewind(depth: number): Promise<void>
}

interface Payload {
  readonly blockHash: string
  readonly blockNumber: string
  readonly timestamp: string
  readonly baseFeePerGas: string
}

/** Starts op-geth on a chain that begins with Isthmus and has Jovian later. Its contracts and transactions are random.
 *  It ends with the test. */
export async function startOpDriver(
  t: After,
  { random, args }: { random: SeededRandom; args?: readonly string[] },
): Promise<OpDriver> {
  const cast = randomCast(random)
  const genesis = genesisOf(cast)
  const genesisFile = join(temporaryDirectory(t), 'genesis.json')
  writeFileSync(genesisFile, JSON.stringify(genesis))
  const node = await startGethEngine(t, genesisFile, { program: 'op-geth', args })
  const driver = new Driver(node, { random, cast, genesis })
  await driver.begin()
  return Object.assign(driver, { ...node, genesisFile, genesis, cast })
}

class Driver {
  /** The canonical chain. */
  private readonly chain: Payload[] = []
  private readonly node: EngineNode
  private readonly random: SeededRandom
  private readonly cast: Cast
  private readonly spec: ReturnType<typeof parseGenesisSpec>
  /** Blocks that were built, on all branches: no two have the same deposits. */
  private built = 0

  constructor(node: EngineNode, { random, cast, genesis }: { random: SeededRandom; cast: Cast; genesis: object }) {
    this.node = node
    this.random = random
    this.cast = cast
    this.spec = parseGenesisSpec(genesis)
  }

  get head(): number {
    return this.chain.length - 1
  }

  async begin(): Promise<void> {
    const block = await resultOf<Payload & { hash: string }>(this.node.url, 'eth_getBlockByNumber', ['0x0', false])
    this.chain.push({ ...block, blockHash: block.hash })
    await this.choose()
  }

  async extend(count: number): Promise<void> {
    for (let i = 0; i < count; i++) await this.add()
  }

  async rewind(depth: number): Promise<void> {
    this.chain.length -= depth
    await this.choose()
  }

  private async choose(attributes: object | null = null): Promise<string | undefined> {
    const { blockHash } = this.chain.at(-1)!
    const state = { headBlockHash: blockHash, safeBlockHash: ZERO, finalizedBlockHash: ZERO }
    const answer = await callEngine(this.node.engineUrl, 'engine_forkchoiceUpdatedV3', [state, attributes])
    if (answer.error) throw new PayloadRefused(JSON.stringify(answer.error))
    const { payloadStatus, payloadId } = answer.result as { payloadStatus: { status: string }; payloadId?: string }
    if (payloadStatus.status !== 'VALID') throw new Error(`fork choice: ${JSON.stringify(answer.result)}`)
    return payloadId
  }

  /** Adds a block without the transactions that op-geth cannot include. */
  private async add(): Promise<void> {
    const parent = this.chain.at(-1)!
    const number = this.chain.length
    const timestamp = Number(parent.timestamp) + SECONDS
    const seed = keccak256(new TextEncoder().encode(`block ${this.built++}`))
    const deposits = this.deposits(number, timestamp, seed)
    // The first block of Jovian has deposits alone (specs/protocol/jovian/derivation.md).
    const plans = number === JOVIAN_BLOCK ? [] : this.plans(parent, number, timestamp)
    const attributes = {
      ...{ timestamp: formatQuantity(timestamp), prevRandao: formatData(seed), withdrawals: [] },
      ...{ suggestedFeeRecipient: SEQUENCER_FEE_VAULT, parentBeaconBlockRoot: formatData(seed), noTxPool: true },
      ...{ gasLimit: '0x2faf080', eip1559Params: '0x000000fa00000006' },
      ...(number >= JOVIAN_BLOCK ? { minBaseFee: 1_000_000 + number } : {}),
    }
    for (;;) {
      const transactions = [...deposits, ...(await this.sign(plans, number - 1))]
      const encoded = transactions.map((each) => formatData(encodeTransaction(each)))
      try {
        const id = await this.choose({ ...attributes, transactions: encoded })
        return await this.insert(id!)
      } catch (error) {
        // op-geth names the transaction that it cannot include.
        const hash = /0x[0-9a-f]{64}/.exec(String(error))?.[0]
        const refused = transactions.findIndex((each) => formatData(each.hash) === hash) - deposits.length
        if (!(error instanceof PayloadRefused) || plans.length === 0) throw error
        plans.splice(refused < 0 ? plans.length - 1 : refused, 1)
      }
    }
  }

  private async insert(id: string): Promise<void> {
    const { engineUrl } = this.node
    const got = await callEngine(engineUrl, 'engine_getPayloadV4', [id])
    if (got.error) throw new PayloadRefused(JSON.stringify(got.error))
    const { executionPayload, parentBeaconBlockRoot } = got.result as {
      executionPayload: Payload
      parentBeaconBlockRoot: string
    }
    const params = [executionPayload, [], parentBeaconBlockRoot, []]
    const { result, error } = await callEngine(engineUrl, 'engine_newPayloadV4', params)
    if ((result as { status?: string } | undefined)?.status !== 'VALID') {
      throw new Error(`new payload: ${JSON.stringify(result ?? error)}`)
    }
    this.chain.push(executionPayload)
    await this.choose()
  }

  private plans(parent: Payload, number: number, timestamp: number): TransactionPlan[] {
    const rules = { ...rulesAt(this.spec, number, BigInt(timestamp), 0n) }
    const baseFee = BigInt(parent.baseFeePerGas) * 2n
    const make = createTransactions(this.random, { cast: this.cast, rules, baseFee, nonceOf: () => 0n })
    const plans = Array.from({ length: this.random.below(MOST_TRANSACTIONS + 1) }, make)
    return plans.filter(({ type }) => type !== 3) // the OP stack has no blobs
  }

  private async sign(plans: readonly TransactionPlan[], parent: number): Promise<Transaction[]> {
    const { url } = this.node
    const nonces = new Map<object, bigint>()
    const signed: Transaction[] = []
    for (const { sender, legacyWithoutChainId, ...fields } of plans) {
      const asked = nonces.get(sender) ?? (await nonceOf(url, sender.address, parent))
      nonces.set(sender, asked + 1n)
      const type = fields.type ?? 0
      const defaults = { type, gasLimit: 200_000n, value: 0n, input: new Uint8Array(0), nonce: asked }
      const prices = type >= 2 ? {} : { gasPrice: 10n ** 10n }
      const chainId = legacyWithoutChainId ? {} : { chainId: CHAIN_ID }
      const lists = type >= 1 ? { accessList: [] } : {}
      signed.push(signTransaction({ ...defaults, ...prices, ...chainId, ...lists, ...fields }, sender.privateKey))
    }
    return signed
  }

  /** The deposit with the L1 attributes, and now and then deposits of users: with mints, calls and creations; some of
   *  them fail. */
  private deposits(number: number, timestamp: number, seed: Uint8Array): Transaction[] {
    const { random, cast } = this
    const attributes = deposit({
      ...{ seed, index: 0, from: DEPOSITOR, to: L1_BLOCK, gasLimit: 1_000_000n },
      input: l1Attributes(random, { number, timestamp, isJovian: number > JOVIAN_BLOCK }),
    })
    const contracts = Object.values(cast.contracts)
    const users = Array.from({ length: random.below(3) }, (_, i) => {
      const kind = random.below(5)
      const to = kind === 0 ? undefined : contracts[random.below(contracts.length)]
      return deposit({
        ...{ seed, index: 1 + i, from: keccak256(Uint8Array.of(random.below(3), 7)).subarray(12), to },
        mint: random.below(2) === 0 ? undefined : BigInt(1 + random.below(1_000_000)) * 10n ** 9n,
        value: kind === 1 ? 10n ** 30n : BigInt(random.below(2) * random.below(1000)),
        gasLimit: BigInt([20_000, 60_000, 300_000, 1_000_000][random.below(4)]),
        input: kind === 0 ? parseHex('0x6001600c60003960016000f300') : random.bytes(random.below(70)),
      })
    })
    return [attributes, ...users]
  }
}

const ZERO = `0x${'00'.repeat(32)}`

class PayloadRefused extends Error {}

async function nonceOf(url: string, address: Uint8Array, number: number): Promise<bigint> {
  return BigInt(await resultOf<string>(url, 'eth_getTransactionCount', [formatData(address), formatQuantity(number)]))
}

interface DepositParts {
  readonly seed: Uint8Array
  readonly index: number
  readonly from: Uint8Array
  readonly to?: Uint8Array
  readonly mint?: bigint
  readonly value?: bigint
  readonly gasLimit: bigint
  readonly input: Uint8Array
}

function deposit({ seed, index, from, to, mint, value = 0n, gasLimit, input }: DepositParts): Transaction {
  const sourceHash = keccak256(concatBytes(seed, Uint8Array.of(index)))
  const transaction = {
    ...{ type: DEPOSIT_TYPE, from, to, value, gasLimit, input, nonce: 0n, gasPrice: 0n, v: 0n, r: 0n, s: 0n },
    deposit: { sourceHash, mint, isSystemTransaction: false },
  } as Omit<Transaction, 'hash'>
  return { ...transaction, hash: keccak256(encodeTransaction(transaction as Transaction)) } as Transaction
}

/** The call of L1Block (specs/protocol/{isthmus,jovian}/l1-attributes.md), with operator fees in most blocks. */
function l1Attributes(
  random: SeededRandom,
  { number, timestamp, isJovian }: { number: number; timestamp: number; isJovian: boolean },
): Uint8Array {
  const uint = (value: number, bytes: number) => bigIntToFixedBytes(BigInt(value), bytes)
  const operator = random.below(4) === 0 ? 0 : 1500
  return concatBytes(
    ...[parseHex(isJovian ? '0x3db6be2b' : '0x098999be'), uint(5227, 4), uint(1_014_213, 4)],
    ...[uint(number, 8), uint(timestamp, 8), uint(9000 + number, 8)],
    ...[uint(7e9 + random.below(1e9), 32), uint(1 + random.below(1e9), 32), uint(77, 32), uint(88, 32)],
    ...[uint(operator, 4), uint(operator * 1000, 8), ...(isJovian ? [uint(400, 2)] : [])],
  )
}

function genesisOf(cast: Cast): object {
  const recorded = readExecutedOpChain().genesis.alloc as { readonly [address: string]: object }
  const alloc = Object.fromEntries(Object.entries(recorded).map(([address, account]) => [`0x${address}`, account]))
  // No contracts of requests: op-geth calls them in simulations.
  const requests = [WITHDRAWAL_REQUESTS, CONSOLIDATION_REQUESTS].map(formatData)
  const contracts = Object.fromEntries(Object.entries(cast.alloc).filter(([address]) => !requests.includes(address)))
  const ethereum = ['homestead', 'eip150', 'eip155', 'eip158', 'byzantium', 'constantinople', 'petersburg', 'istanbul']
  const blocks = [...ethereum, 'muirGlacier', 'berlin', 'london', 'arrowGlacier', 'grayGlacier', 'mergeNetsplit']
  const forks = ['regolith', 'canyon', 'shanghai', 'ecotone', 'cancun', 'fjord', 'granite', 'holocene', 'isthmus']
  const zero = (names: readonly string[], suffix: string) => names.map((name) => [`${name}${suffix}`, 0])
  return {
    config: {
      chainId: Number(CHAIN_ID),
      ...Object.fromEntries([...zero([...blocks, 'bedrock'], 'Block'), ...zero([...forks, 'prague'], 'Time')]),
      jovianTime: GENESIS_TIME + SECONDS * JOVIAN_BLOCK,
      terminalTotalDifficulty: 0,
      optimism: { eip1559Elasticity: 6, eip1559Denominator: 50, eip1559DenominatorCanyon: 250 },
    },
    ...{ timestamp: formatQuantity(GENESIS_TIME), extraData: '0x00000000fa00000006', gasLimit: '0x2faf080' },
    ...{ difficulty: '0x0', baseFeePerGas: '0x3b9aca00', coinbase: SEQUENCER_FEE_VAULT },
    alloc: { ...alloc, [MESSAGE_PASSER]: { ...alloc[MESSAGE_PASSER], storage: PASSED }, ...contracts },
  }
}
