import { keccak256, signHash } from '../../src/chain/crypto.js'
import type { Rules } from '../../src/chain/eth/forks/rules.js'
import { encodeRlp } from '../../src/chain/eth/rlp.js'
import type { AccessListEntry, Authorization, TransactionType } from '../../src/chain/eth/types.js'
import { bigIntToFixedBytes, bytesToBigInt, concatBytes, padLeft } from '../../src/lib/bytes.js'
import { parseHex } from '../../src/lib/hex.js'
import type { SeededRandom } from '../../test/support/random.js'
import type { Sender, TransactionPlan } from '../fixture/chainBuilder.js'
import { encodeWords } from '../fixture/contracts.js'
import { BUILDER_DEPOSITS, BUILDER_EXITS, CHAIN_ID } from '../fixture/genesis.js'
import { blob, deploy, deposit } from '../fixture/plans.js'
import { precompileInput } from '../fuzz-evm/precompileInputs.js'
import { createPrograms, EDGES } from '../fuzz-evm/programs.js'
import { createCallTrees } from './callTrees.js'
import { type Cast, precompile } from './cast.js'

const GWEI = 1_000_000_000n
const REQUESTS = ['0x00000961ef480eb55e80d19ad83579a64c007002', '0x0000bbddc7ce488642fb579f8b00f3a590007251']

/** What random transactions are made from. */
export interface TransactionParts {
  cast: Cast
  rules: Rules
  /** The next block's base fee, or 0. */
  baseFee: bigint
  /** Next nonce of an account. */
  nonceOf(address: Uint8Array): bigint
}

/** A maker of random transactions for one block. They are mostly valid; the builder leaves out the others. */
export function createTransactions(random: SeededRandom, parts: TransactionParts): () => TransactionPlan {
  const { cast, rules, baseFee, nonceOf } = parts
  const { known, contracts, senders } = cast
  const options = { has: rules.has, known }
  const { initCode } = createPrograms(random, options)
  const trees = createCallTrees(random, options)
  const pick = <T>(values: readonly T[]): T => values[random.below(values.length)]
  const edge = () => padLeft(pick(EDGES), 32)
  const words = () =>
    concatBytes(pick([edge(), padLeft(pick(known), 32), encodeWords(BigInt(random.below(6)))]), edge())
  const value = () => pick([0n, 0n, 0n, 1n, BigInt(random.below(10_000))])

  const creation = (): Partial<TransactionPlan> => {
    const kind = random.below(8)
    const input =
      kind < 3 ? trees.initCode() : kind < 6 ? initCode() : kind === 6 ? random.bytes(20) : longInitCode(random)
    return { input, value: value() }
  }
  const toContract = (): Partial<TransactionPlan> => ({
    to: pick(Object.values(contracts)),
    input: pick([words, words, () => random.bytes(random.below(100)), () => new Uint8Array(0)])(),
    value: value(),
  })
  const probe = (): Partial<TransactionPlan> => ({
    to: pick([contracts.prober, contracts.relay]),
    input: encodeWords(pick(known), BigInt(random.below(6)) << BigInt(random.below(2) * 248)),
  })
  const transfer = (): Partial<TransactionPlan> => ({
    to: pick([pick(known), random.bytes(20), precompile(random.below(20)), new Uint8Array(20)]),
    value: value(),
  })
  const toPrecompile = (): Partial<TransactionPlan> => {
    const { address, input } = precompileInput(random)
    const gasLimit = BigInt(pick([24_000, 30_000, 60_000, 400_000]) + random.below(2000))
    return { to: precompile(random.below(4) === 0 ? 3 : address), input, value: value(), gasLimit }
  }
  const system = (): Partial<TransactionPlan> => {
    const kind = random.below(4)
    if (kind === 0) {
      const { to, input } = deposit(senders[0])
      return { to, input }
    }
    if (kind === 1) return { to: parseHex(pick(REQUESTS)), input: encodeWords(BigInt(random.below(100))) }
    const input = random.bytes(pick([48, 184, 10]))
    return { to: parseHex(pick([BUILDER_DEPOSITS, BUILDER_EXITS])), input, value: value() }
  }

  const kinds = [
    creation,
    creation,
    toContract,
    toContract,
    toContract,
    toContract,
    probe,
    transfer,
    toPrecompile,
    system,
  ]
  return () => {
    if (random.below(12) === 0) return collision(random, cast, rules)
    const plan = pick(kinds)()
    const sender = pick(random.below(12) === 0 ? cast.authorities : senders)
    const whole: TransactionPlan = { sender, ...fees(random, { rules, baseFee, known, plan }), ...plan }
    whole.sender = sender
    whole.gasLimit ??= BigInt(pick([80_000, 200_000, 500_000, 2_000_000]) + random.below(20_000))
    if (plan.to === undefined) whole.gasLimit += 200_000n
    if (whole.type === 3) Object.assign(whole, blobFields(random, whole))
    if (whole.type === 4) whole.authorizationList = authorizations(random, cast, nonceOf)
    return withChainId(whole, random, rules)
  }
}

/** Init code about as long as, and longer than, EIP-3860 allows, which returns code about as long as EIP-170 allows. */
function longInitCode(random: SeededRandom): Uint8Array {
  const runtime = [24_575, 24_576, 24_577, 32_768, 32_769][random.below(5)]
  const code = new Uint8Array([100, 49_152][random.below(2)])
  code.set([0x61, runtime >>> 8, runtime & 0xff, 0x60, 0, 0xf3])
  return code
}

function collision(random: SeededRandom, { collider }: Cast, rules: Rules): TransactionPlan {
  return withChainId(
    deploy(collider, Uint8Array.of(0x60, 0, 0x60, 0, 0xf3), { value: BigInt(random.below(2)) }),
    random,
    rules,
  )
}

function withChainId(plan: TransactionPlan, random: SeededRandom, rules: Rules): TransactionPlan {
  const isPlain = (plan.type ?? 0) === 0
  return isPlain && (!rules.has('spuriousDragon') || random.below(8) === 0)
    ? { ...plan, legacyWithoutChainId: true }
    : plan
}

interface FeeParts {
  rules: Rules
  baseFee: bigint
  known: readonly Uint8Array[]
  plan: Partial<TransactionPlan>
}

/** Type, prices and access list. */
function fees(random: SeededRandom, { rules, baseFee, known, plan }: FeeParts): Partial<TransactionPlan> {
  const types: TransactionType[] = [0, 0]
  if (rules.has('berlin')) types.push(1)
  if (rules.has('london')) types.push(2, 2)
  if (rules.has('cancun') && plan.to) types.push(3)
  if (rules.has('prague') && plan.to) types.push(4)
  const type = types[random.below(types.length)]
  const price = baseFee + BigInt(random.below(3)) * GWEI
  const prices =
    type < 2
      ? { gasPrice: price }
      : { maxFeePerGas: price + GWEI, maxPriorityFeePerGas: BigInt(random.below(4)) * (GWEI / 3n) }
  return { type, ...prices, ...(type > 0 ? { accessList: accessList(random, known) } : {}) }
}

function accessList(random: SeededRandom, known: readonly Uint8Array[]): AccessListEntry[] {
  return Array.from({ length: random.below(3) }, () => ({
    address: known[random.below(known.length)],
    storageKeys: Array.from({ length: random.below(3) }, () => bigIntToFixedBytes(BigInt(random.below(5)), 32)),
  }))
}

function blobFields(random: SeededRandom, { sender, to }: TransactionPlan): Partial<TransactionPlan> {
  const { maxFeePerBlobGas, blobVersionedHashes } = blob(sender, to!, 1 + random.below(random.below(3) === 0 ? 6 : 2))
  return { maxFeePerBlobGas, blobVersionedHashes }
}

/** Authorizations, half of them valid (EIP-7702). */
function authorizations(random: SeededRandom, cast: Cast, nonceOf: TransactionParts['nonceOf']): Authorization[] {
  return Array.from({ length: 1 + random.below(3) }, () => {
    const signer = cast.authorities[random.below(cast.authorities.length)]
    const isValid = random.below(2) === 0
    const chainId = isValid ? [0n, CHAIN_ID][random.below(2)] : [0n, CHAIN_ID, 5n][random.below(3)]
    const nonce = isValid ? nonceOf(signer.address) : BigInt(random.below(4))
    const address = random.below(4) === 0 ? new Uint8Array(20) : cast.known[random.below(cast.known.length)]
    return authorization(signer, { chainId, nonce, address }, !isValid && random.below(3) === 0)
  })
}

function authorization(
  { privateKey }: Sender,
  { chainId, nonce, address }: Pick<Authorization, 'chainId' | 'nonce' | 'address'>,
  isSpoiled: boolean,
): Authorization {
  const hash = keccak256(concatBytes(Uint8Array.of(5), encodeRlp([chainId, address, nonce])))
  const { r, s, recoveryId } = signHash(hash, privateKey)
  const yParity = BigInt(isSpoiled ? 1 - recoveryId : recoveryId)
  return { chainId, address, nonce, yParity, r: bytesToBigInt(r), s: bytesToBigInt(s) }
}
