/** How human text is to look. Read from the terminal by the caller, so that renderers depend on nothing else. */
export interface TextOptions {
  readonly color: boolean;
  /** Columns of the terminal; 0: don't wrap. */
  readonly width: number;
  /** Also what only an investigation needs: the API calls, the fields of what is deleted. */
  readonly verbose: boolean;
}
