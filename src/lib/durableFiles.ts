import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Returns when the file or directory is on disk. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Gives a written file its name: afterwards, whatever happens, the name is that of the whole content. */
export function publishFile(temporary: string, path: string): void {
  syncPath(temporary)
  renameSync(temporary, path)
  syncPath(dirname(path))
}

/** Replaces the content of a file; a crash leaves the old or the new one. */
export function replaceFile(path: string, content: string): void {
  const temporary = `${path}.tmp`
  writeFileSync(temporary, content)
  publishFile(temporary, path)
}
