/* A helper that ends well and says nothing. */
int main(void)
{
        return 0;
}
