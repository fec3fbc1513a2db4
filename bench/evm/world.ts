import { keccak256 } from '../../src/chain/crypto.js'
import { bigIntToFixedBytes, bytesToBigInt, concatBytes, padLeft } from '../../src/lib/bytes.js'
import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { createSender, type Sender } from '../../tools/fixture/chainBuilder.js'
import { createMergedGenesis, type MergedFork } from '../../tools/fixture/mergedGenesis.js'
import { ARITHMETIC_CODE, KECCAK_CODE, MULTICALL_CODE, pairCode, SLOADS_CODE, TOKEN_CODE } from './contracts.js'

/* The state that calls and blocks of the benchmark find: two tokens and their pair, contracts that loop, holders of the
 * tokens, and traders with keys. */

const contractAt = (number: number) =>
  concatBytes(new Uint8Array(18).fill(0xbe), Uint8Array.of(number >> 8, number & 255))

/** Where the contracts stand. */
export const AT = {
  token0: contractAt(1),
  token1: contractAt(2),
  pair: contractAt(3),
  multicall: contractAt(4),
  arithmetic: contractAt(5),
  keccak: contractAt(6),
  sloads: contractAt(7),
} as const

export const HOLDERS = 1_000
/** Slots of the contract that sums them. */
export const SLOTS = 18_000
export const TRADERS = 40

const ETHER = 10n ** 18n
const RESERVES = [1_000_000n * ETHER, 2_000_000n * ETHER] as const

/** The address of a holder of both tokens. */
export function holderAt(index: number): Uint8Array {
  return keccak256(new TextEncoder().encode(`cairn bench holder ${index}`)).slice(12)
}

/** Keys that own both tokens and ether, and let the pair take of the first token what it wants; nonces from 0. */
export function createTraders(): Sender[] {
  return Array.from({ length: TRADERS }, (_, index) => createSender(`bench trader ${index}`))
}

/** The slot of a holder's balance in a token. */
export function balanceSlot(holder: Uint8Array): bigint {
  return bytesToBigInt(keccak256(concatBytes(padLeft(holder, 32), new Uint8Array(32))))
}

function allowanceSlot(owner: Uint8Array, spender: Uint8Array): bigint {
  const inner = keccak256(concatBytes(padLeft(owner, 32), padLeft(Uint8Array.of(1), 32)))
  return bytesToBigInt(keccak256(concatBytes(padLeft(spender, 32), inner)))
}

/** The two reserves in the pair's slot 1. */
export function unpackReserves(slot: bigint): [bigint, bigint] {
  return [slot & (2n ** 112n - 1n), slot >> 112n]
}

/** The genesis in geth's format: every fork up to `fork` (default: Cancun) from block 0 on. 30 M gas a block with
 *  Cancun, 60 M with the later ones, where the holders have accounts too. Without contracts, the traders alone have
 *  tokens. `slots` of the contract that sums them are set (default: all that calls and blocks read). */
export function createWorldGenesis({
  contracts,
  fork,
  slots = SLOTS,
}: {
  contracts: boolean
  fork?: MergedFork
  slots?: number
}): object {
  const traders = createTraders()
  const isLater = fork !== undefined && fork !== 'cancun'
  const holders = Array.from({ length: isLater ? HOLDERS : 0 }, (_, index) => formatData(holderAt(index)))
  const alloc = {
    ...Object.fromEntries(holders.map((address) => [address, { balance: '0x1' }])),
    ...Object.fromEntries(traders.map(({ address }) => [formatData(address), { balance: formatQuantity(10n ** 24n) }])),
    ...(contracts ? makeContracts(traders, slots) : {}),
  }
  const gasLimit = isLater ? '0x3938700' : '0x1c9c380'
  return createMergedGenesis({ chainId: 20_262, gasLimit, alloc, fork })
}

function makeContracts(traders: readonly Sender[], slots: number) {
  return {
    [formatData(AT.token0)]: contract(TOKEN_CODE, tokenSlots(traders, RESERVES[0])),
    [formatData(AT.token1)]: contract(TOKEN_CODE, tokenSlots(traders, RESERVES[1])),
    [formatData(AT.pair)]: contract(pairCode(AT.token0, AT.token1), [
      [0n, 1n],
      [1n, (RESERVES[1] << 112n) | RESERVES[0]],
    ]),
    [formatData(AT.multicall)]: contract(MULTICALL_CODE, []),
    [formatData(AT.arithmetic)]: contract(ARITHMETIC_CODE, []),
    [formatData(AT.keccak)]: contract(KECCAK_CODE, []),
    [formatData(AT.sloads)]: contract(
      SLOADS_CODE,
      Array.from({ length: slots }, (_, i) => [BigInt(i), slotValue(i)]),
    ),
  }
}

function slotValue(index: number): bigint {
  return bytesToBigInt(keccak256(new TextEncoder().encode(`cairn bench slot ${index}`)).slice(0, 20))
}

function tokenSlots(traders: readonly Sender[], reserve: bigint): [bigint, bigint][] {
  const holders = Array.from({ length: HOLDERS }, (_, i) => [holderAt(i), BigInt(i + 1) * ETHER] as const)
  const owners = traders.map(({ address }) => [address, 1_000_000n * ETHER] as const)
  const balances = [...holders, ...owners, [AT.pair, reserve] as const]
  return [
    ...balances.map(([holder, amount]): [bigint, bigint] => [balanceSlot(holder), amount]),
    ...traders.map(({ address }): [bigint, bigint] => [allowanceSlot(address, AT.pair), 2n ** 255n]),
  ]
}

function contract(code: Uint8Array, slots: [bigint, bigint][]) {
  const word = (value: bigint) => formatData(bigIntToFixedBytes(value, 32))
  const storage = Object.fromEntries(slots.map(([slot, value]) => [word(slot), word(value)]))
  return { balance: '0x0', nonce: '0x1', code: formatData(code), storage }
}
