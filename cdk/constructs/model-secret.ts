import { RemovalPolicy } from 'aws-cdk-lib';
import * as secretsmanager from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';

export type ModelSecretProps = {
  /** An existing secret; empty creates one. */
  readonly existingArn: string;
  readonly protect: boolean;
};

/** The key of the model's provider. A created secret has no value until someone puts it in. */
export class ModelSecret extends Construct {
  readonly secret: secretsmanager.ISecret | secretsmanager.Secret;

  constructor(scope: Construct, id: string, props: ModelSecretProps) {
    super(scope, id);
    this.secret =
      props.existingArn === ''
        ? this.create(props.protect)
        : secretsmanager.Secret.fromSecretCompleteArn(this, 'Secret', props.existingArn);
  }

  private create(protect: boolean): secretsmanager.Secret {
    const secret = new secretsmanager.Secret(this, 'Secret', {
      description: 'Key of the model provider for conversation compaction, as plain text.',
      removalPolicy: protect ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    // The construct would generate a random password, which the provider would then be sent as a key.
    const resource = secret.node.defaultChild;
    if (resource instanceof secretsmanager.CfnSecret)
      resource.addPropertyDeletionOverride('GenerateSecretString');
    return secret;
  }
}
