/** Returns a function that copies a range of at most `most` bytes to its own array for binding, valid until the next
 *  call. The arrays, one for each length, share memory: better-sqlite3 copies what it binds, and a new view takes
 *  longer than copying some bytes. */
export function createBoundBytes(most: number): (bytes: Uint8Array, from: number, to: number) => Uint8Array {
  const all = Buffer.allocUnsafeSlow(most)
  const byLength: (Buffer | undefined)[] = new Array(most + 1).fill(undefined)
  return (bytes, from, to) => {
    const length = to - from
    for (let i = 0; i < length; i++) all[i] = bytes[from + i]
    byLength[length] ??= all.subarray(0, length)
    return byLength[length]
  }
}
