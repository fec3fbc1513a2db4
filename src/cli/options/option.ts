/** The commands of `cairn`. */
export const COMMANDS = [
  'import',
  'sync',
  'serve',
  'keys',
  'status',
  'explain-logs',
  'verify',
  'reindex',
  'rewind',
  'backup',
  'restore',
  'snapshot',
  'migrate',
  'upgrade-state',
  'export',
  'abi',
  'record',
  'sql',
  'doctor',
  'completion',
  'version',
  'help',
] as const
export type Command = (typeof COMMANDS)[number]

/** An option: a row of the configuration table. Parsing, help and the reference page are generated from it. */
export interface Option<T> {
  /** `--flag`; its environment variable is `CAIRN_FLAG`. */
  readonly flag: string
  /** The value's name in help; undefined for a flag without one. */
  readonly placeholder?: string
  readonly default: T
  /** Description of the default, or of the behaviour without a value. */
  readonly defaultText?: string
  readonly unit?: string
  readonly doc: string
  readonly commands: readonly Command[]
  /** True for a whole number, which a configuration file has without quotes. */
  readonly isInteger?: boolean
  /** True for an option that may be repeated; its values are lists, which are concatenated. */
  readonly repeatable?: boolean
  /** @throws UsageError that says what would work. */
  parse(text: string): T
}

/** Returns the environment variable of an option. */
export function envName(option: { readonly flag: string }): string {
  return `CAIRN_${option.flag.toUpperCase().replaceAll('-', '_')}`
}
