import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeErrorResult, type Hex, parseAbi } from 'viem'
import { createDecoder } from '../../src/decoding/decoder.js'
import { describeCallFailure } from '../../src/decoding/failures.js'
import type { TracedCall } from '../../src/evm/tracing/callTree.js'
import { EMPTY_BYTES } from '../../src/lib/bytes.js'
import { parseHex } from '../../src/lib/hex.js'
import type { AddedAbi } from '../../src/store/addedAbis.js'

const PROXY = parseHex(`0x${'11'.repeat(20)}`)
const INNER = parseHex(`0x${'22'.repeat(20)}`)

function call(to: Uint8Array, output: Uint8Array, { failure, calls = [] }: Partial<TracedCall> = {}): TracedCall {
  const from = new Uint8Array(20)
  const base = { opcode: 0xf1, from, to, input: EMPTY_BYTES, gas: 0n, value: 0n, gasUsed: 0n, logs: [] }
  return { ...base, output, failure, calls } as unknown as TracedCall
}

function abiOf(address: Uint8Array | undefined, declaration: string): AddedAbi {
  return { id: 1, name: 'x', address, json: JSON.stringify(parseAbi([declaration] as never)), addedAt: 0 }
}

const reverted = (to: Uint8Array, output: Uint8Array, calls: TracedCall[] = []) =>
  call(to, output, { failure: 'execution reverted', calls })

const ABI = parseAbi(['error Error(string)', 'error Panic(uint256)', 'error Paused(uint8 code)'])
const encode = (errorName: 'Error' | 'Panic' | 'Paused', value: unknown) =>
  parseHex(encodeErrorResult({ abi: ABI, errorName, args: [value] as never }) as Hex)

const reasonOf = (root: TracedCall, abis: AddedAbi[] = []) => describeCallFailure(root, createDecoder(abis))?.reason

test('a call that succeeded has no failure', () => {
  assert.equal(describeCallFailure(call(PROXY, encode('Error', 'x')), createDecoder([])), null)
})

test('a reason is the text, the meaning of a panic, the custom error, or the error of the EVM', () => {
  assert.equal(reasonOf(reverted(PROXY, encode('Error', 'not yours'))), 'not yours')
  assert.equal(reasonOf(reverted(PROXY, encode('Panic', 0x12n))), 'division or modulo by zero')
  assert.equal(reasonOf(reverted(PROXY, encode('Panic', 0x99n))), 'unknown panic code: 0x99')
  const custom = reverted(PROXY, encode('Paused', 7))
  assert.equal(reasonOf(custom), 'execution reverted')
  assert.equal(reasonOf(custom, [abiOf(undefined, 'error Paused(uint8 code)')]), 'Paused(code: 7)')
  assert.equal(reasonOf(call(PROXY, encode('Error', 'x'), { failure: 'out of gas' })), 'out of gas')
})

test("the ABI of the contract that reverted first wins over its callers'", () => {
  const data = encode('Paused', 7)
  const abis = [abiOf(PROXY, 'error Paused(uint8 outer)'), abiOf(INNER, 'error Paused(uint8 inner)')]
  assert.equal(reasonOf(reverted(PROXY, data, [reverted(INNER, data)]), abis), 'Paused(inner: 7)')
  assert.equal(reasonOf(reverted(PROXY, data, [reverted(INNER, encode('Paused', 8))]), abis), 'Paused(outer: 7)')
})

test('malformed revert data is the error of the EVM', () => {
  const malformed = encode('Error', 'x').subarray(0, 40)
  const failure = describeCallFailure(reverted(PROXY, malformed), createDecoder([]))
  assert.deepEqual([failure?.reason, failure?.decoded, failure?.data], ['execution reverted', null, malformed])
})
