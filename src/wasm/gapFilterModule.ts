import { assembleModule, type Code, FunctionWriter, get, I32, i32, i32s, set } from './assembler.js'

/** Where the set lies: 8 KiB, as `ChunkSet` has it. */
export const SET_AT = 0
/** Where the gaps are put. */
export const GAPS_AT = 8_192
/** Bytes of gaps, at most. */
export const GAPS_BYTES = 8_192
/** Where the positions are found, 4 bytes each. */
export const FOUND_AT = 20_480

const PAGES = 1
// Bytes taken before it is asked whether there are more: fewer are slower, more are not faster.
const AT_ONCE = 4

/** The module's bytes. It exports `memory` and `filter(length)`, which goes through so many bytes of gaps and gives how many
 *  of their positions are in the set. */
export function assembleGapFilter(): Uint8Array<ArrayBuffer> {
  const f = new FunctionWriter([I32], [I32])
  const length = 0
  const [at, end, found, byte, position, shift] = f.locals(I32, 6)
  f.put(set(at, i32(GAPS_AT)), set(end, i32s.add(get(length), i32(GAPS_AT))), set(found, i32(FOUND_AT)))
  // Bytes of gaps that do not end, for the last ones to be taken.
  f.put(i32s.store(get(end), 0, i32(0x80808080 | 0)))
  f.loop('next', () => {
    for (let i = 0; i < AT_ONCE; i++) {
      f.put(set(byte, i32s.loadByte(get(at), i)), takeByte({ byte, position, shift }))
      // Within a gap of several bytes the set may be met by chance, which is seldom: so the byte is looked at last.
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

/** Adds seven bits of a gap; the next byte's are higher ones unless this byte is the last. */
function takeByte({ byte, position, shift }: { byte: number; position: number; shift: number }): Code {
  const bits = i32s.left(i32s.and(get(byte), i32(127)), get(shift))
  const goesOn = i32s.sub(i32(0), i32s.right(get(byte), i32(7)))
  return [set(position, i32s.add(get(position), bits)), set(shift, i32s.and(i32s.add(get(shift), i32(7)), goesOn))]
}

function isInSet(position: number): Code {
  const word = i32s.load(i32s.left(i32s.right(get(position), i32(5)), i32(2)), SET_AT)
  return i32s.and(i32s.right(word, get(position)), i32(1))
}
