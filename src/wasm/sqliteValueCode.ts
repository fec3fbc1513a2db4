import { FunctionWriter, get, I32, I64, i32, i32s, i64, i64s, RETURN, set } from './assembler.js'

/* Functions that read values of SQLite's file format. */

/** Returns a function that reads a variable-length integer of SQLite at an address: up to 8 bytes, most significant
 *  first, 7 bits of each. Its length is in the highest byte of the result; 9 bytes have the length 9 and no value. */
export function writeVarint() {
  const f = new FunctionWriter([I32], [I64])
  const at = 0
  const value = f.local(I64)
  const length = f.local(I32)
  const byte = f.local(I32)
  f.loop('byte', () => {
    f.put(set(byte, i32s.loadByte(i32s.add(get(at), get(length)))), set(length, i32s.add(get(length), i32(1))))
    f.when(i32s.isMore(get(length), i32(8)), () => f.put(i64(9n << 56n), RETURN))
    const bits = i64s.of(i32s.and(get(byte), i32(127)))
    f.put(set(value, i64s.or(i64s.left(get(value), i64(7n)), bits)))
    f.goToWhen('byte', i32s.right(get(byte), i32(7)))
  })
  f.put(i64s.or(get(value), i64s.left(i64s.of(get(length)), i64(56n))))
  return f.end()
}

/** Returns a function that reads the integer of a serial type at an address: -1 if it is no integer, negative, or
 *  longer than 31 bits. https://sqlite.org/fileformat2.html#record_format */
export function writeColumnInteger() {
  const f = new FunctionWriter([I32, I32], [I32])
  const [type, at] = [0, 1]
  const value = f.local(I32)
  const next = f.local(I32)
  f.when(i32s.isLess(i32s.sub(get(type), i32(8)), i32(2)), () => f.put(i32s.sub(get(type), i32(8)), RETURN))
  f.when(i32s.isAtLeast(i32s.sub(get(type), i32(1)), i32(4)), () => f.put(i32(-1), RETURN))
  f.put(set(value, i32s.loadByte(get(at))))
  // A set sign bit.
  f.when(i32s.right(get(value), i32(7)), () => f.put(i32(-1), RETURN))
  f.put(set(next, i32(1)))
  f.loop('byte', () =>
    f.when(i32s.isLess(get(next), get(type)), () => {
      const byte = i32s.loadByte(i32s.add(get(at), get(next)))
      f.put(set(value, i32s.or(i32s.left(get(value), i32(8)), byte)), set(next, i32s.add(get(next), i32(1))))
      f.goTo('byte')
    }),
  )
  f.put(get(value))
  return f.end()
}
