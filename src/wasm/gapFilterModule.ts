import { assembleModule, type Code, FunctionWriter, get, I32, i32, i32s, set } from './assembler.js'

/** Address of the set: 8 KiB, in the layout of `ChunkSet`. */
export const SET_AT = 0
/** Address of the gaps. */
export const GAPS_AT = 8_192
/** Maximum bytes of gaps. */
export const GAPS_BYTES = 8_192
/** Address of the found positions, 4 bytes each. */
export const FOUND_AT = 20_480

const PAGES = 1
// Bytes processed per end check: fewer are slower, more are not faster.
const AT_ONCE = 4

/** The module's bytes. It exports `memory` and `filter(length)`, which decodes that many bytes of gaps and returns how
 *  many of the positions are in the set. */
export function assembleGapFilter(): Uint8Array<ArrayBuffer> {
  const f = new FunctionWriter([I32], [I32])
  const length = 0
  const [at, end, found, byte, position, shift] = f.locals(I32, 6)
  f.put(set(at, i32(GAPS_AT)), set(end, i32s.add(get(length), i32(GAPS_AT))), set(found, i32(FOUND_AT)))
  // Bytes of an unfinished gap, as padding for the last read.
  f.put(i32s.store(get(end), 0, i32(0x80808080 | 0)))
  f.loop('next', () => {
    for (let i = 0; i < AT_ONCE; i++) {
      f.put(set(byte, i32s.loadByte(get(at), i)), takeByte({ byte, position, shift }))
      // A partial gap of several bytes rarely hits the set, so the byte is checked last.
      f.when(isInSet(position), () =>
        f.when(i32s.isLess(get(byte), i32(128)), () =>
          f.put(i32s.store(get(found), 0, get(position)), set(found, i32s.add(get(found), i32(4)))),
        ),
      )
    }
    f.put(set(at, i32s.add(get(at), i32(AT_ONCE))))
    f.goToWhen('next', i32s.isLess(get(at), get(end)))
  })
  f.put(i32s.right(i32s.sub(get(found), i32(FOUND_AT)), i32(2)))
  return assembleModule({ pages: PAGES, functions: [f.end('filter')] })
}

/** Adds seven bits of a gap, at increasing shifts until its last byte. */
function takeByte({ byte, position, shift }: { byte: number; position: number; shift: number }): Code {
  const bits = i32s.left(i32s.and(get(byte), i32(127)), get(shift))
  const goesOn = i32s.sub(i32(0), i32s.right(get(byte), i32(7)))
  return [set(position, i32s.add(get(position), bits)), set(shift, i32s.and(i32s.add(get(shift), i32(7)), goesOn))]
}

function isInSet(position: number): Code {
  const word = i32s.load(i32s.left(i32s.right(get(position), i32(5)), i32(2)), SET_AT)
  return i32s.and(i32s.right(word, get(position)), i32(1))
}
