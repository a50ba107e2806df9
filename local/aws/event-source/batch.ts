/** A message as `ReceiveMessage` gives it. */
export type Message = {
  readonly MessageId: string;
  readonly ReceiptHandle: string;
  readonly Body: string;
  readonly MD5OfBody: string;
  readonly Attributes?: Readonly<Record<string, string>>;
  readonly MessageAttributes?: Readonly<
    Record<string, { DataType: string; StringValue?: string; BinaryValue?: string }>
  >;
};

/** The event that a function receives for a batch of a queue, as JSON text. */
export function toEvent(messages: readonly Message[], queueArn: string, region: string): string {
  return JSON.stringify({ Records: messages.map((message) => toRecord(message, queueArn, region)) });
}

function toRecord(message: Message, queueArn: string, region: string): object {
  const attributes = Object.entries(message.MessageAttributes ?? {}).map(([name, value]) => [
    name,
    { dataType: value.DataType, stringValue: value.StringValue, binaryValue: value.BinaryValue },
  ]);
  return {
    messageId: message.MessageId,
    receiptHandle: message.ReceiptHandle,
    body: message.Body,
    attributes: message.Attributes ?? {},
    messageAttributes: Object.fromEntries(attributes),
    md5OfBody: message.MD5OfBody,
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: region,
  };
}

/**
 * The messages that a partial answer lists as failed. An answer that Lambda cannot read, or that names a message of
 * another batch, fails the whole batch.
 */
export function failedMessages(payload: string, messages: readonly Message[]): readonly Message[] {
  const answer = JSON.parse(payload) as { batchItemFailures?: unknown } | null;
  const listed = answer?.batchItemFailures;
  if (listed === undefined || listed === null) return [];
  if (!Array.isArray(listed)) return messages;
  const ids = listed.map((item: { itemIdentifier?: unknown } | null) => item?.itemIdentifier);
  const known = ids.every((id) => messages.some(({ MessageId }) => MessageId === id));
  return known ? messages.filter(({ MessageId }) => ids.includes(MessageId)) : messages;
}
