import { keccak256, signHash } from '../../../src/chain/crypto.js'
import { encodeRlp } from '../../../src/chain/eth/rlp.js'
import { concatBytes } from '../../../src/lib/bytes.js'
import { formatData, formatQuantity, parseHex } from '../../../src/lib/hex.js'
import { CHAIN_ID } from '../../fixture/genesis.js'
import { precompileInput } from '../../fuzz-evm/precompileInputs.js'
import { createPrograms, EDGES } from '../../fuzz-evm/programs.js'
import { createCallTrees } from '../callTrees.js'
import type { Choices, Request } from './random.js'

/** Gas of calls; both servers allow more. */
const GAS = [21_000, 30_000, 53_000, 100_000, 300_000, 1_000_000]

const GWEI = 10n ** 9n

/** A random call object: mostly one that can be executed. */
export function callObject(choices: Choices): { [member: string]: unknown } {
  const { random, facts, pick, oneIn, sometimes, address } = choices
  const creates = oneIn(6)
  const precompile = oneIn(6) ? precompileInput(random) : undefined
  const target = () => (oneIn(3) ? address() : pick(Object.values(facts.contracts)))
  const to = precompile ? `0x${precompile.address.toString(16).padStart(40, '0')}` : target()
  const data = creates ? initCode(choices) : precompile ? formatData(precompile.input) : callData(choices)
  const call = {
    from: sometimes(3, () => (oneIn(2) ? pick(facts.senders) : address())),
    to: creates ? undefined : to,
    [oneIn(3) ? 'data' : 'input']: oneIn(10) ? undefined : data,
    gas: oneIn(8) ? undefined : formatQuantity(pick(GAS) + random.below(3000)),
    value: sometimes(4, () => formatQuantity(pick([0n, 1n, 1000n, 10n ** 25n]))),
    nonce: sometimes(12, () => formatQuantity(random.below(5))),
    ...prices(choices),
    ...extras(choices),
  }
  return Object.fromEntries(Object.entries(call).filter(([, value]) => value !== undefined))
}

function callData(choices: Choices): string {
  const { random, pick, oneIn, address } = choices
  if (oneIn(4)) return choices.data(random.below(100))
  const word = () => formatData(pick(EDGES)).slice(2).padStart(64, '0')
  const first = oneIn(2) ? address().slice(2).padStart(64, '0') : word()
  const second = pick([word(), random.below(6).toString(16).padStart(64, '0'), `0${random.below(6)}`.padEnd(64, '0')])
  return `0x${first}${second}`
}

function initCode({ random, facts, oneIn }: Choices): string {
  const options = { has: () => true, known: facts.addresses.map(parseHex) }
  return formatData(oneIn(2) ? createCallTrees(random, options).initCode() : createPrograms(random, options).initCode())
}

function prices({ random, pick }: Choices): object {
  const kind = random.below(10)
  const price = () => formatQuantity(pick([0n, 1n, 7n, GWEI, 3n * GWEI]))
  if (kind === 0) return { gasPrice: price() }
  if (kind === 1) return { maxFeePerGas: price() }
  if (kind === 2) return { maxFeePerGas: formatQuantity(4n * GWEI), maxPriorityFeePerGas: price() }
  if (kind === 3 && random.below(4) === 0) return { gasPrice: price(), maxFeePerGas: price() }
  return {}
}

function extras(choices: Choices): object {
  const { random, pick, address, data } = choices
  const kind = random.below(16)
  const keys = () =>
    Array.from({ length: random.below(3) }, () => `0x${random.below(5).toString(16).padStart(64, '0')}`)
  if (kind === 0)
    return { accessList: Array.from({ length: random.below(3) }, () => ({ address: address(), storageKeys: keys() })) }
  if (kind === 1) {
    const blobVersionedHashes = Array.from({ length: 1 + random.below(3) }, () => `0x01${data(31).slice(2)}`)
    return { blobVersionedHashes, maxFeePerBlobGas: pick([undefined, formatQuantity(GWEI)]) }
  }
  if (kind === 2)
    return { authorizationList: Array.from({ length: 1 + random.below(2) }, () => authorization(choices)) }
  return kind === 3 ? { chainId: formatQuantity(pick([CHAIN_ID, CHAIN_ID, 1n])) } : {}
}

function authorization({ random, facts, pick, address }: Choices): object {
  const signer = pick(facts.authorities)
  const chainId = pick([0n, CHAIN_ID, 3n])
  const nonce = BigInt(random.below(3))
  const to = address()
  const hash = keccak256(concatBytes(Uint8Array.of(5), encodeRlp([chainId, parseHex(to), nonce])))
  const { r, s, recoveryId } = signHash(hash, signer.privateKey)
  const quantity = (bytes: Uint8Array) => formatQuantity(BigInt(formatData(bytes)))
  return {
    ...{ chainId: formatQuantity(chainId), address: to, nonce: formatQuantity(nonce) },
    ...{ yParity: formatQuantity(recoveryId), r: quantity(r), s: quantity(s) },
  }
}

/** Random state overrides. */
export function stateOverrides(choices: Choices): object {
  const { random, pick, sometimes, address, data, oneIn } = choices
  const slots = () =>
    Object.fromEntries(
      Array.from({ length: random.below(3) }, (_, i) => [
        `0x${i.toString(16).padStart(64, '0')}`,
        pick([data(32), `0x${'00'.repeat(32)}`]),
      ]),
    )
  const account = () => {
    const storage = oneIn(2) ? { state: sometimes(3, slots) } : { stateDiff: sometimes(3, slots) }
    const whole = {
      balance: sometimes(2, () => formatQuantity(pick([0n, 1n, 10n ** 24n]))),
      nonce: sometimes(4, () => formatQuantity(random.below(4))),
      code: sometimes(3, () => (oneIn(4) ? '0x' : initCode(choices))),
      ...storage,
    }
    return Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined))
  }
  return Object.fromEntries(Array.from({ length: 1 + random.below(2) }, () => [address(), account()]))
}

/** Random block overrides of a call at a block. */
export function blockOverrides(choices: Choices): object {
  const { random, facts, pick, sometimes, address, data } = choices
  const whole = {
    number: sometimes(3, () => formatQuantity(random.below(facts.head + 10))),
    time: sometimes(3, () => formatQuantity(pick(facts.timestamps) + random.below(20))),
    gasLimit: sometimes(4, () => formatQuantity(pick([1_000_000, 30_000_000]))),
    feeRecipient: sometimes(3, address),
    prevRandao: sometimes(4, () => data(32)),
    baseFeePerGas: sometimes(4, () => formatQuantity(pick([0n, 7n, GWEI]))),
    blobBaseFee: sometimes(6, () => formatQuantity(pick([0n, 1n, GWEI]))),
  }
  return Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined))
}

/** A random call, estimate or access list. */
export function randomCall(choices: Choices): Request {
  const { random, oneIn, stateBlock } = choices
  const kind = random.below(6)
  const call = callObject(choices)
  if (kind <= 1) return { method: 'eth_createAccessList', params: [call, stateBlock()] }
  const method = kind <= 3 ? 'eth_call' : 'eth_estimateGas'
  const params: unknown[] = [call, stateBlock()]
  if (oneIn(3)) params.push(stateOverrides(choices))
  else if (oneIn(4)) params.push({}, blockOverrides(choices))
  return { method, params }
}
