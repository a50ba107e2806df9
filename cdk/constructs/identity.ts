import { CfnOutput, Duration, RemovalPolicy } from 'aws-cdk-lib';
import * as cognito from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';

export type IdentityProps = {
  /** Issuer of the tokens, `https://…`; empty creates a user pool. */
  readonly issuer: string;
  /** Accepted values of `aud`; not empty when there is an issuer. */
  readonly audience: readonly string[];
  readonly adminGroup: string;
  readonly protect: boolean;
};

/** Who may call the API: an existing OIDC issuer, or a user pool of the stack's own. */
export class Identity extends Construct {
  readonly issuer: string;
  readonly audience: string[];

  constructor(scope: Construct, id: string, props: IdentityProps) {
    super(scope, id);
    if (props.issuer !== '') {
      this.issuer = props.issuer;
      this.audience = [...props.audience];
      return;
    }
    const pool = this.createPool(props.protect);
    pool.addGroup('Admins', {
      groupName: props.adminGroup,
      description: 'May change settings and models and read usage and audit.',
    });
    const client = pool.addClient('Client', {
      // Administrators' sign-in needs AWS credentials: how a first token is obtained without a web page.
      authFlows: { userSrp: true, adminUserPassword: true },
      disableOAuth: true,
      accessTokenValidity: Duration.hours(1),
      idTokenValidity: Duration.hours(1),
      preventUserExistenceErrors: true,
    });
    this.issuer = pool.userPoolProviderUrl;
    this.audience = [client.userPoolClientId];
    new CfnOutput(this, 'UserPoolId', { value: pool.userPoolId }).overrideLogicalId('UserPoolId');
    new CfnOutput(this, 'ClientId', { value: client.userPoolClientId }).overrideLogicalId('ClientId');
  }

  private createPool(protect: boolean): cognito.UserPool {
    return new cognito.UserPool(this, 'Users', {
      selfSignUpEnabled: false,
      signInAliases: { email: true },
      signInCaseSensitive: false,
      accountRecovery: cognito.AccountRecovery.EMAIL_ONLY,
      passwordPolicy: {
        minLength: 12,
        requireLowercase: true,
        requireUppercase: true,
        requireDigits: true,
        requireSymbols: true,
      },
      mfa: cognito.Mfa.OPTIONAL,
      mfaSecondFactor: { otp: true, sms: false },
      deletionProtection: protect,
      removalPolicy: protect ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
  }
}
