import type { Frame } from './frame.js'
import type { Machine } from './machine.js'
import { toNumber, wordToBigInt } from './words/words.js'

const MOST_NUMBER = BigInt(Number.MAX_SAFE_INTEGER)

/** All gas of a frame. */
export function totalGas({ gas, gasBeyond }: Frame): bigint {
  return BigInt(gas) + gasBeyond
}

/** Sets all gas of a frame. */
export function setTotalGas(frame: Frame, total: bigint): void {
  frame.gasBeyond = total > MOST_NUMBER ? total - MOST_NUMBER : 0n
  frame.gas = Number(total - frame.gasBeyond)
}

/** Adds to the gas of a frame. */
export function addGas(frame: Frame, gas: number): void {
  const sum = frame.gas + gas
  if (sum <= Number.MAX_SAFE_INTEGER && frame.gasBeyond === 0n) frame.gas = sum
  else setTotalGas(frame, totalGas(frame) + BigInt(gas))
}

/** Adds the gas that another frame has left. */
export function returnGas(frame: Frame, from: Frame): void {
  const sum = frame.gas + from.gas
  if (sum <= Number.MAX_SAFE_INTEGER && frame.gasBeyond === 0n && from.gasBeyond === 0n) frame.gas = sum
  else setTotalGas(frame, totalGas(frame) + totalGas(from))
}

/** Consumes all gas of a frame. */
export function takeGas(frame: Frame): void {
  frame.gas = 0
  frame.gasBeyond = 0n
}

/** Moves gas to a callee: the word at `asked`, from EIP-150 on at most all but one 64th. False if there is less than
 *  requested. */
export function giveGas({ stack, rules }: Machine, frame: Frame, child: Frame, asked: number): boolean {
  if (frame.gasBeyond !== 0n) return giveExactGas(frame, child, wordToBigInt(stack, asked), rules.eip150)
  const wanted = toNumber(stack, asked)
  const most = rules.eip150 ? frame.gas - Math.floor(frame.gas / 64) : frame.gas
  if (wanted > most && !rules.eip150) return false
  child.gas = wanted < most ? wanted : most
  child.gasBeyond = 0n
  frame.gas -= child.gas
  return true
}

/** Moves all gas to a contract creation; from EIP-150 on all but one 64th. */
export function giveAllGas({ rules }: Machine, frame: Frame, child: Frame): void {
  if (frame.gasBeyond !== 0n) {
    giveExactGas(frame, child, rules.eip150 ? MOST_UINT64 : totalGas(frame), rules.eip150)
    return
  }
  child.gas = rules.eip150 ? frame.gas - Math.floor(frame.gas / 64) : frame.gas
  child.gasBeyond = 0n
  frame.gas -= child.gas
}

const MOST_UINT64 = 2n ** 64n - 1n

function giveExactGas(frame: Frame, child: Frame, wanted: bigint, keeps64th: boolean): boolean {
  const total = totalGas(frame)
  const most = keeps64th ? total - total / 64n : total
  if (wanted > most && !keeps64th) return false
  const given = wanted < most ? wanted : most
  setTotalGas(child, given)
  setTotalGas(frame, total - given)
  return true
}
