import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assembleModule,
  F64,
  type FunctionCode,
  FunctionWriter,
  get,
  I32,
  i32,
  i32s,
  i64,
  i64s,
  instantiate,
  set,
} from '../../src/wasm/assembler.js'

function load(written: FunctionCode, data?: { at: number; bytes: number[] }[]) {
  return instantiate<{ f(...values: number[]): number }>(assembleModule({ pages: 1, functions: [written], data }))
}

test('encodes constants of every size', () => {
  for (let bits = 0; bits < 64; bits++) {
    for (const change of [-1n, 0n, 1n]) {
      for (const sign of [-1n, 1n]) {
        const value = BigInt.asIntN(64, sign * (2n ** BigInt(bits) + change))
        const f = new FunctionWriter([], [])
        f.put(i64s.store(i32(8), 0, i64(value)))
        if (BigInt.asIntN(32, value) === value) f.put(i32s.store(i32(16), 0, i32(Number(value))))
        const { memory, f: run } = load(f.end('f'))
        run()
        const view = new DataView(memory.buffer)
        assert.equal(view.getBigInt64(8, true), value)
        if (BigInt.asIntN(32, value) === value) assert.equal(view.getInt32(16, true), Number(value))
      }
    }
  }
})

test('finds blocks and loops by their names, however deep', () => {
  // The sum of the numbers below n, save those that are multiples of 3.
  const f = new FunctionWriter([I32], [F64])
  const [i, sum, rest] = f.locals(I32, 3)
  f.block('done', () => {
    f.loop('next', () => {
      f.goToWhen('done', i32s.isAtLeast(get(i), get(0)))
      f.put(set(rest, i32s.sub(get(i), i32s.multiply(i32s.divide(get(i), i32(3)), i32(3)))))
      f.block('skip', () => {
        f.when(i32s.isZero(get(rest)), () => f.goTo('skip'))
        f.put(set(sum, i32s.add(get(sum), get(i))))
      })
      f.put(set(i, i32s.add(get(i), i32(1))))
      f.goTo('next')
    })
  })
  f.put(i64s.toDouble(i64s.of(get(sum))))
  const { f: run } = load(f.end('f'))
  assert.equal(run(10), 1 + 2 + 4 + 5 + 7 + 8)
  assert.throws(() => f.goTo('nowhere'), /no block around here is named nowhere/)
})

test('begins memory with data', () => {
  const { memory } = load(new FunctionWriter([]).end('f'), [
    { at: 300, bytes: [1, 2, 3] },
    { at: 70, bytes: [4] },
  ])
  const bytes = new Uint8Array(memory.buffer)
  assert.deepEqual([...bytes.subarray(299, 304), bytes[70], bytes.length], [0, 1, 2, 3, 0, 4, 65536])
})
