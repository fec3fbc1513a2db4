import { join } from 'node:path'
import { installPackage } from '../npmPackage.js'

const VERSION = '1.7.1'
const PLATFORM = `${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`

/** The path of a program of Foundry, which is installed when it is not there; undefined when it cannot be had. */
export function findFoundry(program: 'anvil' | 'cast'): string | undefined {
  const folder = installPackage(`@foundry-rs/${program}-${PLATFORM}`, VERSION)
  return folder && join(folder, 'bin', program)
}
