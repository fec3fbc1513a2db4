import {
  type Code,
  type FunctionCode,
  FunctionWriter,
  get,
  I32,
  I64,
  i32,
  i32s,
  i64,
  i64s,
  RETURN,
  set,
  v128s,
} from '../../../wasm/assembler.js'
import { REGISTERS } from './layout.js'
import { register } from './writer.js'

// More is left to `runFrame`, which may check the deadline first.
const MAX_GROWTH = 1024

/** `(end, gas)`: extends the frame's memory to `end`, which is beyond its size, and fills it with zeros. Returns the
 *  gas left; -1, having changed nothing, if the gas is not enough or the module may not extend it that far (Yellow
 *  Paper, appendix H, C_mem; `expansionGas` in JavaScript). */
export function writeExtendMemory(): FunctionCode {
  const [end, gas] = [0, 1]
  const f = new FunctionWriter([I32, I64], [I64])
  const size = f.local(I32)
  const before = f.local(I32)
  const at = f.local(I32)
  const store = (name: 'memorySize' | 'memoryTop', value: Code) => i32s.store(i32(REGISTERS[name]), 0, value)
  /** Gas of a memory of that many bytes. */
  const price = (bytes: number) => {
    const words = i64s.right(i64s.of(get(bytes)), i64(5n))
    return i64s.add(i64s.multiply(words, i64(3n)), i64s.right(i64s.multiply(words, words), i64(9n)))
  }
  const refuseWhen = (condition: Code) => f.when(condition, () => f.put(i64(-1n), RETURN))
  f.put(set(before, register('memorySize')), set(size, i32s.and(i32s.add(get(end), i32(31)), i32(-32))))
  refuseWhen(i32s.isMore(get(size), register('memoryRoom')))
  refuseWhen(i32s.isMore(i32s.sub(get(size), get(before)), i32(MAX_GROWTH)))
  f.put(set(gas, i64s.sub(get(gas), i64s.sub(price(size), price(before)))))
  refuseWhen(i64s.isLessSigned(get(gas), i64(0n)))
  f.put(set(at, i32s.add(register('memory'), get(before))))
  f.put(store('memorySize', get(size)), store('memoryTop', i32s.sub(get(size), i32(31))))
  f.put(set(size, i32s.add(register('memory'), get(size))))
  f.loop('fill', () => {
    for (const offset of [0, 16]) f.put(v128s.store(get(at), offset, v128s.zero))
    f.put(set(at, i32s.add(get(at), i32(32))))
    f.goToWhen('fill', i32s.isLess(get(at), get(size)))
  })
  f.put(get(gas))
  return f.end()
}
